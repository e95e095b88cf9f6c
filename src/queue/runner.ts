import type { Job } from "./job.ts";
import type { JobProgress } from "./queue.ts";

export interface RunOptions {
  readonly onProgress: (progress: JobProgress) => void;
  /** Stops the job; `run` then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Computes jobs: fetches the frames, computes depth, puts the results into the store. Running a job twice gives its results once. */
export interface JobRunner {
  /** Jobs it can compute at the same time. */
  readonly slots: number;
  /** Rejects with a `DualFocusError`, or the signal's reason. */
  run(job: Job, options: RunOptions): Promise<void>;
  close(): Promise<void>;
}
