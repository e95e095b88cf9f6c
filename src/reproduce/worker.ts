import { DualFocusError } from "../errors.ts";
import { jobs, type JobContext } from "./jobs.ts";
import type { Assignment, Message } from "./processes.ts";

/** The process of one job (processes.ts). */

const stop = new AbortController();
const context: JobContext = {
  stop: stop.signal,
  progress: (line) => {
    send({ kind: "progress", line });
  },
};

process.once("message", ({ job, request }: Assignment) => {
  const interrupt = (): void => {
    if (job === "train") stop.abort();
    else process.exit(); // what was measured so far is kept
  };
  process.once("message", interrupt).once("disconnect", interrupt);
  const work = jobs[job] as (request: unknown, context: JobContext) => Promise<unknown>;
  work(request, context).then(
    (result) => {
      finish({ kind: "result", result });
    },
    (error: unknown) => {
      finish(describe(error));
    },
  );
});

function describe(error: unknown): Message {
  if (!(error instanceof DualFocusError))
    return { kind: "failure", error: { message: error instanceof Error ? String(error.stack) : String(error) } };
  const { code, message, facts } = error;
  return { kind: "failure", error: { code, message, facts } };
}

function send(message: Message, then?: () => void): void {
  if (process.connected) process.send?.(message, undefined, undefined, then);
  else then?.();
}

function finish(message: Message): void {
  send(message, () => process.exit());
}
