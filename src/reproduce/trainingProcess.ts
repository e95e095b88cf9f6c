import { fork } from "node:child_process";

import { UserError, type ExitCode } from "../system/userError.ts";
import type { TrainRequest, TrainResult } from "../train/run.ts";

/** A training run that continues from the checkpoint in its folder, if there is one. Plain data. */
export type TrainingJob = Pick<TrainRequest, "config" | "folder" | "device" | "data" | "textures" | "threads">;

export interface TrainOptions {
  /** Of the run, in front of its progress and its errors. */
  readonly name: string;
  /** Ends the run early, saved. */
  readonly stop: AbortSignal;
  readonly progress: (line: string) => void;
}

export type Train = (job: TrainingJob, options: TrainOptions) => Promise<TrainResult>;

/** What the process of a run sends back. */
export type Message =
  | { readonly kind: "progress"; readonly line: string }
  | { readonly kind: "result"; readonly result: TrainResult }
  | { readonly kind: "failure"; readonly message: string; readonly exitCode?: ExitCode | undefined; readonly remedy?: string | undefined };

const WORKER = new URL(`./trainingWorker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

/**
 * Trains in a process of its own: several can run at a time, and what one holds on the device is free when it ends. The process stops,
 * saved, when this one asks it to or is gone.
 */
export function trainInProcess(job: TrainingJob, { name, stop, progress }: TrainOptions, { worker = WORKER } = {}): Promise<TrainResult> {
  return new Promise((resolve, reject) => {
    // detached: Ctrl-C reaches it from here alone. Structured clones keep the `undefined`s of a configuration.
    const child = fork(worker, { detached: true, serialization: "advanced", stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const interrupt = (): void => void child.send("stop");
    stop.addEventListener("abort", interrupt, { once: true });
    let last: Message | undefined;
    child.on("message", (message: Message) => {
      if (message.kind === "progress") progress(`${name}: ${message.line}`);
      else last = message;
    });
    child.on("error", reject).on("close", (code, signal) => {
      stop.removeEventListener("abort", interrupt);
      if (last?.kind === "result") resolve(last.result);
      else if (last?.kind === "failure") reject(failure(name, last));
      else reject(new Error(`${name}: its process ended without a result (${signal ?? `exit code ${code}`})`));
    });
    child.send(job);
  });
}

function failure(name: string, { message, exitCode, remedy }: Extract<Message, { kind: "failure" }>): Error {
  if (exitCode === undefined) return new Error(`${name}: ${message}`);
  return new UserError(`${name}: ${message}`, { exitCode, ...(remedy !== undefined && { remedy }) });
}
