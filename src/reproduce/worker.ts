import { DatasetError } from "../data/dataset.ts";
import { DualFocusError } from "../errors.ts";
import { UserError } from "../system/userError.ts";
import { ConfigError } from "../train/config.ts";
import { DivergedError } from "../train/loop.ts";
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
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UserError) return { kind: "failure", message, exitCode: error.exitCode, remedy: error.remedy };
  if (error instanceof ConfigError) return { kind: "failure", message, exitCode: 2 };
  if (error instanceof DualFocusError) return { kind: "failure", message, exitCode: error.kind === "usage" ? 2 : 3 };
  if (error instanceof DatasetError || error instanceof DivergedError || error instanceof RangeError)
    return { kind: "failure", message, exitCode: 3 };
  return { kind: "failure", message: error instanceof Error ? String(error.stack) : message };
}

function send(message: Message, then?: () => void): void {
  if (process.connected) process.send?.(message, undefined, undefined, then);
  else then?.();
}

function finish(message: Message): void {
  send(message, () => process.exit());
}
