import { DualFocusError } from "../errors.ts";
import { programBeside, startComputing } from "../system/childProgram.ts";
import type { Attempt, DepthOptions, Place } from "./depthFolders.ts";
import { failed } from "./depthResults.ts";

/** Messages to the process. */
export type ToLane =
  | { readonly type: "start"; readonly options: DepthOptions; readonly memory: number }
  | { readonly type: "run"; readonly place: Place }
  | { readonly type: "stop" };

/** Messages from it; `broken`: a failure that nobody foresaw. */
export type FromLane = ({ readonly type: "done" } & Attempt) | { readonly type: "broken"; readonly message: string };

/** A process that computes one stack after the other; it keeps its network. */
export interface Lane {
  readonly isOpen: boolean;
  run(place: Place): Promise<Attempt>;
  close(): Promise<void>;
}

export function createLane(options: DepthOptions, { memory, signal }: { readonly memory: number; readonly signal: AbortSignal }): Lane {
  const worker = startComputing<ToLane>(programBeside(import.meta.url, "depthLaneMain"), { threads: options.threads, memory });
  const { child, post, ended } = worker;
  let callOff: (() => void) | undefined;
  const stop = (): void => {
    callOff = worker.stop({ type: "stop" });
  };
  signal.addEventListener("abort", stop, { once: true });
  post({ type: "start", options, memory });
  return {
    get isOpen() {
      return child.connected;
    },
    async run({ name, output, ...place }) {
      const answered = new Promise<FromLane>((resolve) => child.once("message", resolve));
      post({ type: "run", place: { name, output, ...place } });
      const answer = await Promise.race([answered, ended]);
      signal.throwIfAborted();
      if (typeof answer === "string") return { entry: failed({ name, output }, lost(name, answer)), isTooLarge: false };
      if (answer.type === "broken") throw new Error(`${name}: ${answer.message}`);
      return answer;
    },
    async close() {
      if (child.connected) child.disconnect();
      await ended;
      callOff?.();
      signal.removeEventListener("abort", stop);
    },
  };
}

const lost = (name: string, how: string): DualFocusError =>
  new DualFocusError("worker-lost", `${name}: the process that computed it ended (${how})`, { facts: { how } });
