import type { Stage } from "../depth/progress.ts";
import type { Job } from "./job.ts";

export const JOB_STATES = ["queued", "running", "done", "failed", "cancelled"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** `fetch` and `store` move files between the store and the machine that computes. */
export type JobStage = "fetch" | Stage | "store";

export interface JobProgress {
  readonly stage: JobStage;
  readonly done: number;
  readonly of: number;
}

/**
 * Why a job failed. `input`, `alignment` and `metadata` are the command's exit codes 3, 4 and 5; `timeout` and `memory` are limits of the
 * worker; `lost`: the process that computed it ended, again and again; `internal`: anything else, tried several times.
 */
export const JOB_ERROR_CODES = ["input", "alignment", "metadata", "timeout", "memory", "lost", "internal"] as const;
export type JobErrorCode = (typeof JOB_ERROR_CODES)[number];

export interface JobError {
  readonly code: JobErrorCode;
  readonly message: string;
  readonly remedy?: string;
}

/** How a job stands. Times are milliseconds since 1970. */
export interface JobStatus {
  readonly id: string;
  readonly state: JobState;
  readonly progress?: JobProgress;
  /** Only of failed jobs. */
  readonly error?: JobError;
  /** How often it was started. */
  readonly attempts: number;
  readonly submittedAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
}

export interface QueueCounts {
  readonly queued: number;
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  /** Processes that take jobs now. */
  readonly workers: number;
}

/** Jobs on their way to a result. The results lie in the store (`readResults`), never here. */
export interface JobQueue {
  /** Resolves when the job is safe. The same id again changes nothing. */
  submit(job: Job): Promise<void>;
  /** Undefined if there is no such job, or no more. */
  get(id: string): Promise<JobStatus | undefined>;
  /**
   * The status now, then after each change, the last one being done, failed or cancelled; nothing if there is no such job.
   * Steps that come quickly may be left out. Ends when `signal` is aborted.
   */
  subscribe(id: string, options: { readonly signal: AbortSignal }): AsyncIterable<JobStatus>;
  /** Takes the job away: waiting, running (it is stopped; subscribers hear cancelled) or ended. Its files stay. False if there is none. */
  remove(id: string): Promise<boolean>;
  counts(): Promise<QueueCounts>;
  /** Whether jobs can be taken now; rejects with the reason if not. */
  ping(): Promise<void>;
  /** Stops taking part. Jobs of the embedded queue that run are stopped. */
  close(): Promise<void>;
}

/** True for the states a job stays in. */
export const hasEnded = ({ state }: Pick<JobStatus, "state">): boolean => state === "done" || state === "failed" || state === "cancelled";
