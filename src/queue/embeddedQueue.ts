import { EventEmitter } from "node:events";

import { reportOf, type ErrorReport } from "../errors.ts";
import { DEFAULT_TENANT, jobSchema, type Job } from "./job.ts";
import {
  hasEnded,
  isWorthRetrying,
  RETRIES,
  retryDelay,
  type JobProgress,
  type JobQueue,
  type JobStatus,
  type QueueCounts,
} from "./queue.ts";
import type { JobRunner } from "./runner.ts";
import { watch } from "./watch.ts";

export interface EmbeddedOptions {
  readonly runner: JobRunner;
  /** Milliseconds to wait after this many attempts. */
  readonly delay?: (attempts: number) => number;
}

interface Entry {
  readonly job: Job;
  readonly stop: AbortController;
  status: JobStatus;
}

/** A queue in this process, first come first served. What waits in it is gone when the process ends. */
export function createEmbeddedQueue({ runner, delay = retryDelay }: EmbeddedOptions): JobQueue {
  const entries = new Map<string, Entry>();
  const changes = new EventEmitter().setMaxListeners(0);
  const line = createLine({
    runner,
    delay,
    update: (entry, change) => {
      entry.status = { ...entry.status, ...change };
      changes.emit(entry.job.id);
    },
  });
  let isClosed = false;
  const get = (id: string): Promise<JobStatus | undefined> => Promise.resolve(entries.get(id)?.status);
  const ping = (): Promise<void> => (isClosed ? Promise.reject(new Error("the queue is closed")) : Promise.resolve());
  return {
    get,
    ping,
    async submit(given) {
      await ping();
      const job = jobSchema.parse(given);
      if (entries.has(job.id)) return;
      const { id, tenant = DEFAULT_TENANT } = job;
      const status: JobStatus = { id, tenant, state: "queued", attempts: 0, submittedAt: Date.now() };
      const entry = { job, stop: new AbortController(), status };
      entries.set(job.id, entry);
      line.add(entry);
    },
    subscribe: (id, { signal }) =>
      watch({
        get: () => get(id),
        onChange: (changed) => {
          changes.on(id, changed);
          return () => changes.off(id, changed);
        },
        signal,
        patience: 60_000,
      }),
    remove(id) {
      const entry = entries.get(id);
      if (!entry) return Promise.resolve(false);
      entries.delete(id);
      line.drop(entry);
      entry.stop.abort(new Error("the job was removed"));
      changes.emit(id);
      return Promise.resolve(true);
    },
    counts: () => Promise.resolve(countOf([...entries.values()].map(({ status }) => status))),
    usage(tenant) {
      const own = [...entries.values()].filter(({ status }) => status.tenant === tenant);
      const jobs = own.filter(({ status }) => !hasEnded(status)).length;
      return Promise.resolve({ jobs, bytes: own.reduce((sum, { job }) => sum + (job.bytes ?? 0), 0) });
    },
    async close() {
      isClosed = true;
      for (const { stop } of entries.values()) stop.abort(new Error("the server stops"));
      await line.close();
      await runner.close();
    },
  };
}

interface LineOptions extends Required<EmbeddedOptions> {
  readonly update: (entry: Entry, change: Partial<JobStatus>) => void;
}

/** Jobs that wait, and jobs that run. */
function createLine({ runner, delay, update }: LineOptions) {
  const waiting: Entry[] = [];
  const running = new Set<Promise<void>>();
  let isClosed = false;
  const add = (entry: Entry): void => {
    waiting.push(entry);
    startNext();
  };
  const startNext = (): void => {
    while (!isClosed && running.size < runner.slots) {
      const entry = waiting.shift();
      if (!entry) return;
      const run = attempt(entry).finally(() => {
        running.delete(run);
        startNext();
      });
      running.add(run);
    }
  };
  const attempt = async (entry: Entry): Promise<void> => {
    const { job, stop, status } = entry;
    update(entry, { state: "running", attempts: status.attempts + 1, startedAt: status.startedAt ?? Date.now() });
    const onProgress = (progress: JobProgress): void => {
      update(entry, { progress });
    };
    try {
      await runner.run(job, { onProgress, signal: stop.signal });
      update(entry, { state: "done", endedAt: Date.now() });
    } catch (cause) {
      if (!stop.signal.aborted) again(entry, reportOf(cause));
    }
  };
  const again = (entry: Entry, error: ErrorReport): void => {
    if (!isWorthRetrying(error) || entry.status.attempts >= RETRIES.attempts) {
      update(entry, { state: "failed", error, endedAt: Date.now() });
      return;
    }
    update(entry, { state: "queued" });
    setTimeout(() => {
      if (!entry.stop.signal.aborted) add(entry);
    }, delay(entry.status.attempts)).unref();
  };
  return {
    add,
    drop(entry: Entry) {
      const place = waiting.indexOf(entry);
      if (place >= 0) waiting.splice(place, 1);
    },
    async close() {
      isClosed = true;
      await Promise.all(running);
    },
  };
}

function countOf(statuses: readonly JobStatus[]): QueueCounts {
  const count = (state: JobStatus["state"]): number => statuses.filter((status) => status.state === state).length;
  return { queued: count("queued"), running: count("running"), done: count("done"), failed: count("failed"), workers: 1 };
}
