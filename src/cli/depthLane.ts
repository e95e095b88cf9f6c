import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

import { DualFocusError } from "../errors.ts";
import { childEnvironment } from "../system/childEnvironment.ts";
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

/** Milliseconds in which a process tidies up after it was asked to stop. */
const STOP_PATIENCE = 5000;

export function createLane(options: DepthOptions, { memory, signal }: { readonly memory: number; readonly signal: AbortSignal }): Lane {
  const file = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./depthLaneMain.ts" : "./depthLaneMain.js", import.meta.url));
  const child = fork(file, {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...childEnvironment(["system", "device"]), VIPS_CONCURRENCY: String(options.threads) }, // the decoder's threads
  });
  const post = (message: ToLane): void => {
    if (child.connected) child.send(message, () => undefined); // a process that is gone is noticed by its end
  };
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, how) => { resolve(how ?? `exit code ${code}`); }); // prettier-ignore
    child.once("error", ({ message }) => { resolve(message); }); // prettier-ignore
  });
  let killing: NodeJS.Timeout | undefined;
  const stop = (): void => {
    post({ type: "stop" });
    killing ??= setTimeout(() => child.kill("SIGKILL"), STOP_PATIENCE);
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
      clearTimeout(killing);
      signal.removeEventListener("abort", stop);
    },
  };
}

const lost = (name: string, how: string): DualFocusError =>
  new DualFocusError("worker-lost", `${name}: the process that computed it ended (${how})`, { facts: { how } });
