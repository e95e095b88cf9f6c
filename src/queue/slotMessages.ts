import type { DepthOptions } from "../depth/options.ts";
import type { Job } from "./job.ts";
import type { JobError, JobProgress } from "./queue.ts";

/** What a process that computes jobs is started with. */
export interface SlotOptions {
  /** A directory, or s3://bucket/prefix. */
  readonly store: string;
  readonly scratch: string;
  readonly device: DepthOptions["device"];
  /** CPU threads. */
  readonly threads: number;
  /** Bytes it may hold. */
  readonly memory: number;
  /** Jobs it computes at the same time; more than one pays where a device is faster with several stacks at once. */
  readonly together: number;
}

/** `run` numbers the runs of a slot: the same job may come twice. */
export type ToSlot =
  | { readonly type: "start"; readonly options: SlotOptions }
  | { readonly type: "run"; readonly run: number; readonly job: Job }
  | { readonly type: "stop"; readonly run: number };

export type FromSlot =
  | { readonly type: "progress"; readonly run: number; readonly progress: JobProgress }
  /** `held`: bytes the process holds after the job. */
  | { readonly type: "done"; readonly run: number; readonly held: number }
  | { readonly type: "stopped"; readonly run: number }
  | { readonly type: "failed"; readonly run: number; readonly error: JobError; readonly retry: boolean };
