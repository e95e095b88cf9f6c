import { Job as QueueJob, UnrecoverableError, WaitingError, Worker } from "bullmq";
import { setTimeout } from "node:timers/promises";
import type { Redis } from "ioredis";

import { DualFocusError, reportOf } from "../errors.ts";
import { jobSchema } from "./job.ts";
import { isWorthRetrying } from "./queue.ts";
import { connect, encodeJobError, HEARTBEAT, MOST_LOSSES, PREFIX, QUEUE, WORKERS_KEY, type StoredJob } from "./redis.ts";
import type { JobRunner } from "./runner.ts";

/** Events for a log: never names of files, only ids of jobs. */
export type WorkerLog = (event: string, facts?: Readonly<Record<string, string | number>>) => void;

export interface RedisWorkerOptions {
  readonly url: string;
  /** Not closed by the worker. */
  readonly runner: JobRunner;
  /** Identifies this process among all workers. */
  readonly name: string;
  /** Milliseconds without a sign of life after which another worker takes over. */
  readonly lock?: number;
  readonly log?: WorkerLog;
  /** Called every few seconds as long as the process is alive. */
  readonly onBeat?: () => void;
}

export interface RedisWorker {
  /** Takes no more jobs, waits this many milliseconds for those that run, then returns them to the queue. */
  stop(grace: number): Promise<void>;
}

const CANCEL_CHECK = 1000; // milliseconds

class HandBack extends Error {
  override readonly name = "HandBack";
}

class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** Takes jobs from Redis as long as the runner has room for them. */
export function startRedisWorker(options: RedisWorkerOptions): RedisWorker {
  const { url, runner, name, lock = 30_000, log = () => undefined } = options;
  const redis = connect(url, { patient: true });
  const running = new Map<QueueJob<StoredJob>, AbortController>();
  const worker = new Worker<StoredJob>(QUEUE, (job, token) => process(job, token), {
    connection: redis,
    prefix: PREFIX,
    name,
    concurrency: runner.slots,
    lockDuration: lock,
    stalledInterval: lock / 2,
    maxStalledCount: MOST_LOSSES,
    drainDelay: 2,
  });
  async function process(job: QueueJob<StoredJob>, token: string | undefined): Promise<void> {
    const stop = new AbortController();
    running.set(job, stop);
    const start = performance.now();
    log("job-started", { id: job.id ?? "", attempt: job.attemptsStarted });
    try {
      await runStored(job, { runner, signal: stop.signal });
      log("job-done", { id: job.id ?? "", seconds: Math.round(performance.now() - start) / 1000 });
    } catch (cause) {
      throw await outcome(cause, { job, token, log });
    } finally {
      running.delete(job);
    }
  }
  // After BullMQ has let go of it.
  worker.on("failed", (job) => {
    if (job?.data.cancelled) job.remove().catch(() => undefined);
  });
  for (const each of [redis, worker])
    each.on("error", (error: Error) => {
      log("redis-error", { message: error.message });
    });
  const stopBeating = beat({ ...options, redis, worker, running });
  log("worker-started", { name, slots: runner.slots });
  return {
    async stop(grace) {
      log("worker-stopping", { running: running.size });
      await worker.pause(true);
      const patience = new AbortController();
      const timeout = setTimeout(grace, undefined, { signal: patience.signal }).catch(() => undefined);
      await Promise.race([timeout, worker.close()]);
      patience.abort();
      for (const stop of running.values()) stop.abort(new HandBack());
      await worker.close();
      await stopBeating();
      redis.disconnect();
      log("worker-stopped");
    },
  };
}

async function runStored(job: QueueJob<StoredJob>, { runner, signal }: { runner: JobRunner; signal: AbortSignal }): Promise<void> {
  if (job.data.cancelled) throw new Cancelled("removed before it began");
  const parsed = jobSchema.safeParse(job.data.job);
  if (!parsed.success) throw new DualFocusError("job-outdated", "the job was submitted by another version of dualfocus");
  await runner.run(parsed.data, {
    signal,
    onProgress: (progress) => {
      job.updateProgress(progress).catch(() => undefined); // the job matters more than its progress
    },
  });
}

interface Ending {
  readonly job: QueueJob<StoredJob>;
  readonly token: string | undefined;
  readonly log: WorkerLog;
}

/** The error that makes BullMQ wait for another worker, try again later, or give up. */
async function outcome(cause: unknown, { job, token, log }: Ending): Promise<Error> {
  const id = job.id ?? "";
  if (cause instanceof HandBack) {
    await job.moveToWait(token);
    log("job-handed-back", { id });
    return new WaitingError();
  }
  if (cause instanceof Cancelled) {
    log("job-cancelled", { id });
    job.data = { ...job.data, cancelled: true };
    return new UnrecoverableError("removed");
  }
  const error = reportOf(cause);
  log("job-failed", { id, code: error.code, attempt: job.attemptsStarted });
  return isWorthRetrying(error) ? new Error(encodeJobError(error)) : new UnrecoverableError(encodeJobError(error));
}

interface Living extends Pick<RedisWorkerOptions, "name" | "onBeat"> {
  readonly redis: Redis;
  readonly worker: Worker<StoredJob>;
  readonly running: ReadonlyMap<QueueJob<StoredJob>, AbortController>;
}

/** Sends signs of life and stops running jobs that were cancelled. Returns what ends it. */
function beat({ redis, worker, name, onBeat, running }: Living): () => Promise<void> {
  const live = async (): Promise<void> => {
    onBeat?.();
    await redis.zadd(WORKERS_KEY, Date.now(), name);
    await redis.zremrangebyscore(WORKERS_KEY, 0, Date.now() - 10 * HEARTBEAT.missing);
  };
  const stopCancelled = async (): Promise<void> => {
    for (const [{ id = "" }, stop] of running) {
      const now = await QueueJob.fromId<StoredJob>(worker, id);
      if (now?.data.cancelled) stop.abort(new Cancelled("removed"));
    }
  };
  const quietly = (body: () => Promise<void>) => (): void => {
    body().catch(() => undefined); // Redis is away, which the connection reports
  };
  quietly(live)();
  const timers = [setInterval(quietly(live), HEARTBEAT.every), setInterval(quietly(stopCancelled), CANCEL_CHECK)];
  return async (): Promise<void> => {
    for (const timer of timers) clearInterval(timer);
    await redis.zrem(WORKERS_KEY, name).catch(() => undefined);
  };
}
