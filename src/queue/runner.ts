import type { Job } from "./job.ts";
import type { JobError, JobProgress } from "./queue.ts";

export interface RunOptions {
  readonly onProgress: (progress: JobProgress) => void;
  /** Stops the job; `run` then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Computes jobs: fetches the frames, finds the depth, puts the results into the store. Running a job twice gives its results once. */
export interface JobRunner {
  /** Jobs it can compute at the same time. */
  readonly slots: number;
  /** Rejects with a `JobFailure`, or the signal's reason. */
  run(job: Job, options: RunOptions): Promise<void>;
  close(): Promise<void>;
}

/** A job that cannot be done, told as its submitter will read it. */
export class JobFailure extends Error {
  override readonly name = "JobFailure";
  readonly error: JobError;
  /** Whether another attempt may end better. */
  readonly retry: boolean;

  constructor(error: JobError, { retry, cause }: { retry: boolean; cause?: unknown }) {
    super(error.message, cause === undefined ? undefined : { cause });
    this.error = error;
    this.retry = retry;
  }
}
