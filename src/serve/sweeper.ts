import { jobPrefix } from "../queue/job.ts";
import { hasEnded, type JobQueue } from "../queue/queue.ts";
import type { FileStore } from "../queue/store.ts";
import type { Log } from "./log.ts";

export interface SweepOptions {
  readonly queue: JobQueue;
  readonly store: FileStore;
  /** Milliseconds for which the files of ended jobs are kept. */
  readonly keep: number;
  readonly log: Log;
  readonly now?: () => number;
}

/** Files no job owns may be those of a job that is just being submitted, or removed; after this many milliseconds they are not. */
const ORPHAN_AGE = 10 * 60 * 1000;
const LONGEST_INTERVAL = 10 * 60 * 1000;

/** Removes what has been kept long enough, and what killed processes have left: now, and from time to time. */
export function createSweeper(options: SweepOptions): { close(): void } {
  let busy = false;
  const run = (): void => {
    if (busy) return;
    busy = true;
    sweep(options)
      .catch((error: unknown) => {
        options.log("warning", "sweep failed", { cause: String(error) });
      })
      .finally(() => (busy = false));
  };
  const timer = setInterval(run, Math.min(LONGEST_INTERVAL, Math.max(1000, options.keep / 10))).unref();
  run();
  return {
    close: () => {
      clearInterval(timer);
    },
  };
}

/** Returns how many jobs were forgotten. */
export async function sweep({ queue, store, keep, log, now = Date.now }: SweepOptions): Promise<number> {
  const changed = new Map<string, number>();
  for (const { key, changedAt } of await store.list("jobs")) {
    const id = key.split("/")[1] ?? "";
    changed.set(id, Math.max(changed.get(id) ?? 0, changedAt));
  }
  let removed = 0;
  for (const [id, at] of changed) {
    const status = await queue.get(id);
    const isOld = status ? hasEnded(status) && now() - (status.endedAt ?? at) > keep : now() - at > ORPHAN_AGE;
    if (!isOld) continue;
    await queue.remove(id);
    await store.remove(jobPrefix(id));
    removed += 1;
  }
  if (removed > 0) log("info", "swept", { jobs: removed });
  return removed;
}
