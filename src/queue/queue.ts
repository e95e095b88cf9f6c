import { ERRORS, type ErrorReport } from "../errors.ts";
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

/** The status of a job. Times are milliseconds since 1970. */
export interface JobStatus {
  readonly id: string;
  readonly tenant: string;
  readonly state: JobState;
  readonly progress?: JobProgress;
  /** Only of failed jobs. */
  readonly error?: ErrorReport;
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

/** What a tenant's jobs take. */
export interface TenantUsage {
  /** That wait or run. */
  readonly jobs: number;
  /** Of the frames of all jobs that are kept, ended ones included. */
  readonly bytes: number;
}

/** Jobs on their way to a result. The results are in the store (`readResults`), never here. */
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
  /** Removes the job: waiting, running (it is stopped; subscribers see `cancelled`) or ended. Its files stay. False if there is none. */
  remove(id: string): Promise<boolean>;
  counts(): Promise<QueueCounts>;
  usage(tenant: string): Promise<TenantUsage>;
  /** Whether jobs can be taken now, which is to write; rejects with the reason if not. */
  ping(): Promise<void>;
  /** Disconnects. Jobs of the embedded queue that run are stopped. */
  close(): Promise<void>;
}

/** Whether another attempt at a failed job may end better: not if its images are at fault, or if it took too long. */
export const isWorthRetrying = ({ code }: ErrorReport): boolean => ERRORS[code].kind === "resource" && code !== "time-limit";

/** How often such a job is tried, and how long to wait between: doubling, at random so that not all come back at once. */
export const RETRIES = { attempts: 3, firstDelay: 2000, jitter: 0.5 } as const;

/** Milliseconds to wait after this many attempts. `chance` is in [0, 1]. */
export const retryDelay = (attempts: number, chance: number = Math.random()): number =>
  RETRIES.firstDelay * 2 ** (attempts - 1) * (1 - RETRIES.jitter * chance);

/** True for the states a job stays in. */
export const hasEnded = ({ state }: Pick<JobStatus, "state">): boolean => state === "done" || state === "failed" || state === "cancelled";
