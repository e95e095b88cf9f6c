import type { DeviceName } from "../network/node/devices.ts";

import { DualFocusError, type ErrorReport } from "../errors.ts";
import { programBeside, startComputing, type ComputingProcess } from "../system/childProgram.ts";
import type { Job } from "./job.ts";
import { isBucket } from "./openStore.ts";
import type { JobProgress } from "./queue.ts";
import type { RunOptions } from "./runner.ts";

/** What a process that computes jobs is started with. */
export interface SlotOptions {
  /** A directory, or s3://bucket/prefix. */
  readonly store: string;
  readonly scratch: string;
  readonly device: DeviceName;
  /** CPU threads. */
  readonly threads: number;
  /** Bytes it may use, together with the process that develops a raw file. */
  readonly memory: number;
  /** Jobs it computes at the same time; more than one pays where a device is faster with several stacks at once. */
  readonly together: number;
}

/** Messages to the process. `run` numbers the runs of a slot: the same job may come twice. */
export type ToSlot =
  | { readonly type: "start"; readonly options: SlotOptions }
  | { readonly type: "run"; readonly run: number; readonly job: Job }
  | { readonly type: "stop"; readonly run: number };

/** Messages from the process. */
export type FromSlot =
  | { readonly type: "progress"; readonly run: number; readonly progress: JobProgress }
  /** `held`: bytes the process uses after the job. */
  | { readonly type: "done"; readonly run: number; readonly held: number }
  | { readonly type: "stopped"; readonly run: number }
  | { readonly type: "failed"; readonly run: number; readonly error: ErrorReport };

/** A process of its own for jobs: its memory can be limited, a hanging job can be ended, and what it computes blocks nobody else. */
export interface Slot {
  readonly pid: number | undefined;
  /** Jobs it computes now. */
  readonly running: number;
  /** False once it takes no more jobs. */
  readonly isOpen: boolean;
  run(job: Job, options: RunOptions): Promise<void>;
  close(): Promise<void>;
}

/** A process that holds more than this share of its memory after a job is replaced by a fresh one. */
const TIRED = 0.8;

interface Running extends Pick<RunOptions, "onProgress"> {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export function createSlot(options: SlotOptions & { /** Milliseconds for one job. */ readonly timeLimit: number }): Slot {
  const worker = startProcess(options);
  const { child, post } = worker;
  const runs = new Map<number, Running>();
  let [count, isOpen] = [0, true];
  const ended = worker.ended.then((how) => {
    isOpen = false;
    for (const { reject } of runs.values()) reject(lost(how));
  });
  child.on("message", (message: FromSlot) => {
    const run = runs.get(message.run);
    if (message.type === "progress") run?.onProgress(message.progress);
    else if (message.type === "failed") {
      if (message.error.code === "memory-limit") isOpen = false; // a fresh process has more left
      run?.reject(new DualFocusError(message.error.code, message.error.message, message.error));
    } else if (message.type === "stopped") run?.reject(new Error("stopped"));
    else {
      if (message.held > TIRED * options.memory) isOpen = false;
      run?.resolve();
    }
  });
  const close = async (): Promise<void> => {
    isOpen = false;
    if (child.connected) child.disconnect();
    await ended;
  };
  return {
    pid: child.pid,
    get running() {
      return runs.size;
    },
    get isOpen() {
      return isOpen && child.connected;
    },
    async run(job, { onProgress, signal }) {
      const run = (count += 1);
      const settled = new Promise<void>((resolve, reject) => {
        runs.set(run, { onProgress, resolve, reject });
        post({ type: "run", run, job });
      });
      try {
        await stoppable(settled, { signal, timeLimit: options.timeLimit, stop: () => worker.stop({ type: "stop", run }) });
      } finally {
        runs.delete(run);
        if (!isOpen && runs.size === 0) void close();
      }
    },
    close,
  };
}

function startProcess({ store, scratch, device, threads, memory, together }: SlotOptions): ComputingProcess<ToSlot> {
  const needs = isBucket(store) ? (["bucket"] as const) : [];
  const worker = startComputing<ToSlot>(programBeside(import.meta.url, "slotMain"), { needs, threads, memory });
  worker.post({ type: "start", options: { store, scratch, device, threads, memory, together } });
  return worker;
}

const lost = (how: string): DualFocusError =>
  new DualFocusError("worker-lost", `the process that computed it ended (${how})`, { facts: { how } });

interface Stopping extends Pick<RunOptions, "signal"> {
  readonly timeLimit: number;
  readonly stop: () => () => void;
}

/** Waits for the run, but no longer than it may take; a run that does not stop when asked takes its process with it. */
async function stoppable(settled: Promise<void>, { signal, timeLimit, stop }: Stopping): Promise<void> {
  let reason: unknown;
  let callOff: (() => void) | undefined;
  const stopFor = (why: unknown): void => {
    if (reason !== undefined) return;
    reason = why;
    callOff = stop();
  };
  const onAbort = (): void => {
    stopFor(signal.reason);
  };
  const limit = setTimeout(() => {
    stopFor(tooLong(timeLimit));
  }, timeLimit);
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    await settled;
  } catch (cause) {
    throw reason ?? cause;
  } finally {
    clearTimeout(limit);
    callOff?.();
    signal.removeEventListener("abort", onAbort);
  }
}

const tooLong = (timeLimit: number): DualFocusError =>
  new DualFocusError("time-limit", `it took longer than ${timeLimit / 1000} s`, { facts: { seconds: timeLimit / 1000 } });
