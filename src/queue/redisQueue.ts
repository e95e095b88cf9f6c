import { Queue, QueueEvents, type Job as QueueJob } from "bullmq";
import { EventEmitter } from "node:events";
import type { Redis } from "ioredis";

import { DualFocusError } from "../errors.ts";
import { DEFAULT_TENANT, jobSchema } from "./job.ts";
import { RETRIES, type JobProgress, type JobQueue, type JobState, type JobStatus, type QueueCounts, type TenantUsage } from "./queue.ts";
import { connect, decodeJobError, HEARTBEAT, PREFIX, QUEUE, READY_KEY, tenantKey, withoutPassword, WORKERS_KEY } from "./redis.ts";
import type { StoredJob } from "./redis.ts";
import { watch } from "./watch.ts";

/** A queue in Redis, by BullMQ. A job that failed for good is kept with its reason: a dead letter. */
export interface RedisQueue extends JobQueue {
  /** Those that failed, the latest first. */
  deadLetters(): Promise<JobStatus[]>;
  /** Gives a dead letter another chance; false if there is no such one. */
  retry(id: string): Promise<boolean>;
}

/** Seconds that a job is remembered after it is done. */
const REMEMBERED = 7 * 24 * 3600;
/** Milliseconds after which a subscriber asks even if no event came: events are lost while Redis restarts. */
const PATIENCE = 2000;

const STATES: Readonly<Record<string, JobState>> = {
  waiting: "queued",
  delayed: "queued",
  prioritized: "queued",
  "waiting-children": "queued",
  active: "running",
  completed: "done",
  failed: "failed",
};

export function createRedisQueue(url: string): RedisQueue {
  const redis = connect(url, { patient: false });
  const queue = new Queue<StoredJob>(QUEUE, { connection: redis, prefix: PREFIX, skipWaitingForReady: true });
  const events = createEvents(url);
  for (const each of [redis, queue]) each.on("error", () => undefined); // reported to whoever asks for something
  const find = async (id: string): Promise<QueueJob<StoredJob> | undefined> => {
    const found = await queue.getJob(id);
    return found?.data.cancelled ? undefined : found;
  };
  const get = async (id: string): Promise<JobStatus | undefined> => {
    const before = await find(id);
    if (!before) return undefined;
    const state = STATES[await before.getState()];
    const found = state === "done" || state === "failed" ? await find(id) : before; // it may have ended between the two questions
    return found && state && statusOf(found, state);
  };
  return {
    get,
    async submit(given) {
      const job = jobSchema.parse(given);
      await queue.add(QUEUE, { job }, jobOptions(job.id));
      // Only the quota depends on it: the job is safe already, and to fail here would say that it is not.
      await redis.hset(tenantKey(job.tenant ?? DEFAULT_TENANT), job.id, job.bytes ?? 0).catch(() => undefined);
    },
    subscribe: (id, { signal }) =>
      watch({ get: () => get(id), onChange: (changed) => events.listen(id, changed), signal, patience: PATIENCE }),
    async remove(id) {
      const found = await find(id);
      if (!found) return false;
      await removeJob(found);
      await redis.hdel(tenantKey(found.data.job.tenant ?? DEFAULT_TENANT), id);
      events.notify(id);
      return true;
    },
    counts: () => countsOf(queue, redis),
    usage: (tenant) => usageOf(tenant, redis),
    async ping() {
      await redis.set(READY_KEY, Date.now(), "EX", 60); // one that is full, or a replica, answers but takes no writes
    },
    async deadLetters() {
      const failed = await queue.getFailed();
      return failed.filter(({ data }) => !data.cancelled).map((job) => statusOf(job, "failed"));
    },
    async retry(id) {
      const found = await find(id);
      if (!found || !(await found.isFailed())) return false;
      await found.retry("failed", { resetAttemptsMade: true });
      return true;
    },
    async close() {
      await events.close();
      await queue.close();
      redis.disconnect();
    },
  };
}

/** Opens the queue for `body`. A Redis that does not answer is reported as such. */
export async function withRedisQueue<T>(url: string, body: (queue: RedisQueue) => Promise<T>): Promise<T> {
  const queue = createRedisQueue(url);
  try {
    return await body(queue);
  } catch (cause) {
    if (!(cause instanceof Error && cause.name === "MaxRetriesPerRequestError")) throw cause;
    throw new DualFocusError("redis-unreachable", `${withoutPassword(url)}: no Redis answers there`, { cause });
  } finally {
    await queue.close();
  }
}

const jobOptions = (jobId: string) => ({
  jobId,
  attempts: RETRIES.attempts,
  backoff: { type: "exponential", delay: RETRIES.firstDelay, jitter: RETRIES.jitter },
  removeOnComplete: { age: REMEMBERED },
  stackTraceLimit: 0, // the reason is enough; traces belong to the worker's log
});

/** A job that is being computed is locked: it is marked, and the worker that sees the mark stops and removes it. */
async function removeJob(job: QueueJob<StoredJob>): Promise<void> {
  const remove = (): Promise<boolean> =>
    job.remove().then(
      () => true,
      () => false,
    );
  if (await remove()) return;
  await job.updateData({ ...job.data, cancelled: true });
  await remove(); // for the case that it has ended meanwhile
}

function statusOf(job: QueueJob<StoredJob>, state: JobState): JobStatus {
  const progress = job.progress as JobProgress | number | undefined; // 0 until something is reported
  return {
    id: job.id ?? job.data.job.id,
    tenant: job.data.job.tenant ?? DEFAULT_TENANT,
    state,
    attempts: job.attemptsStarted,
    submittedAt: job.timestamp,
    ...(typeof progress === "object" ? { progress } : {}),
    ...(state === "failed" ? { error: decodeJobError(job.failedReason) } : {}),
    ...(job.processedOn === undefined ? {} : { startedAt: job.processedOn }),
    ...(job.finishedOn === undefined ? {} : { endedAt: job.finishedOn }),
  };
}

async function countsOf(queue: Queue<StoredJob>, redis: Redis): Promise<QueueCounts> {
  const [counts, workers] = await Promise.all([
    queue.getJobCounts("waiting", "delayed", "prioritized", "active", "completed", "failed"),
    redis.zcount(WORKERS_KEY, Date.now() - HEARTBEAT.missing, "+inf"),
  ]);
  const of = (...names: readonly string[]): number => names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  return {
    queued: of("waiting", "delayed", "prioritized"),
    running: of("active"),
    done: of("completed"),
    failed: of("failed"),
    workers,
  };
}

/** Jobs that are gone without having been removed, as Redis forgets those that ended long ago, are taken off the list. */
async function usageOf(tenant: string, redis: Redis): Promise<TenantUsage> {
  const kept = Object.entries(await redis.hgetall(tenantKey(tenant)));
  const facts = redis.pipeline();
  for (const [id] of kept) facts.hmget(`${PREFIX}:${QUEUE}:${id}`, "timestamp", "finishedOn");
  const answers = (await facts.exec()) ?? [];
  const jobs = kept.map(([id, bytes], n) => {
    const [timestamp, finishedOn] = (answers[n]?.[1] ?? []) as (string | null | undefined)[];
    return { id, bytes: Number(bytes), isGone: timestamp === null, hasEnded: typeof finishedOn === "string" };
  });
  const gone = jobs.filter(({ isGone }) => isGone).map(({ id }) => id);
  if (gone.length > 0) await redis.hdel(tenantKey(tenant), ...gone);
  const present = jobs.filter(({ isGone }) => !isGone);
  return { jobs: present.filter(({ hasEnded }) => !hasEnded).length, bytes: present.reduce((sum, { bytes }) => sum + bytes, 0) };
}

const EVENTS = ["active", "progress", "completed", "failed", "waiting", "delayed", "stalled", "removed"] as const;

interface Events {
  readonly listen: (id: string, changed: () => void) => () => void;
  readonly notify: (id: string) => void;
  readonly close: () => Promise<void>;
}

/** One connection for all subscriptions, made when the first comes. */
function createEvents(url: string): Events {
  const changes = new EventEmitter().setMaxListeners(0);
  let source: { readonly redis: Redis; readonly stream: QueueEvents } | undefined;
  const start = (): NonNullable<typeof source> => {
    const redis = connect(url, { patient: true });
    const stream = new QueueEvents(QUEUE, { connection: redis, prefix: PREFIX });
    for (const name of EVENTS) stream.on(name, ({ jobId }: { jobId: string }) => changes.emit(jobId));
    for (const each of [redis, stream]) each.on("error", () => undefined); // it reconnects by itself; subscribers also poll
    return { redis, stream };
  };
  return {
    listen(id, changed) {
      source ??= start();
      changes.on(id, changed);
      return () => changes.off(id, changed);
    },
    notify: (id) => changes.emit(id),
    async close() {
      source?.redis.disconnect();
      await source?.stream.close();
    },
  };
}
