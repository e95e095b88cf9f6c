import { fork } from "node:child_process";

import { DualFocusError, type ErrorReport } from "../errors.ts";
import { programBeside } from "../system/childProgram.ts";
import type { JobContext, jobs } from "./jobs.ts";

type JobName = keyof typeof jobs;
type Request<Name extends JobName> = Parameters<(typeof jobs)[Name]>[0];
type Result<Name extends JobName> = Awaited<ReturnType<(typeof jobs)[Name]>>;

export interface JobOptions extends JobContext {
  /** In front of the job's progress and errors. */
  readonly name: string;
}

/** Does the jobs, wherever. */
export type Runner = { readonly [Name in JobName]: (request: Request<Name>, options: JobOptions) => Promise<Result<Name>> };

/** The first message to the process of a job; any further one asks it to stop. */
export interface Assignment {
  readonly job: JobName;
  readonly request: unknown;
}

/** What the process sends back. */
export type Message =
  | { readonly kind: "progress"; readonly line: string }
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "failure"; readonly error: ErrorReport | { readonly message: string } };

const WORKER = programBeside(import.meta.url, "worker");

/**
 * Does each job in a process of its own: several can run at a time, and what one holds on the device is free when it ends. The process
 * stops when this one asks it to or is gone; a training run saves first.
 */
export const inProcesses = ({ worker = WORKER } = {}): Runner => ({
  train: (request, options) => runJob(worker, { job: "train", request }, options),
  evaluate: (request, options) => runJob(worker, { job: "evaluate", request }, options),
  time: (request, options) => runJob(worker, { job: "time", request }, options),
});

function runJob<T>(worker: URL, assignment: Assignment, { name, stop, progress }: JobOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    // detached: Ctrl-C reaches it from here alone. Structured clones keep `undefined` and NaN.
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
      if (last?.kind === "result") resolve(last.result as T);
      else if (last?.kind === "failure") reject(failure(name, last.error));
      else if (stop.aborted) reject(stop.reason as Error);
      else reject(new Error(`${name}: its process ended without a result (${signal ?? `exit code ${code}`})`));
    });
    child.send(assignment);
  });
}

function failure(name: string, error: ErrorReport | { readonly message: string }): Error {
  const message = `${name}: ${error.message}`;
  return "code" in error ? new DualFocusError(error.code, message, { facts: error.facts }) : new Error(message);
}
