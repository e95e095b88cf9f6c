import { jobIdSchema, jobPrefix } from "../queue/job.ts";
import { hasEnded, type JobQueue } from "../queue/queue.ts";
import type { FileStore } from "../queue/store.ts";
import type { Log } from "./log.ts";

export interface SweepOptions {
  readonly queue: JobQueue;
  readonly store: FileStore;
  /** Milliseconds for which the files of ended jobs are kept. */
  readonly keep: number;
  readonly log: Log;
  readonly onSwept?: (sweep: Sweep) => void;
  readonly now?: () => number;
}

/** What one sweep has done. */
export interface Sweep {
  /** Jobs that were forgotten. */
  readonly removed: number;
  /** Folders among the jobs that are none of ours: left alone. */
  readonly foreign: number;
  /** Jobs that could not be asked for or removed: tried again with the next sweep. */
  readonly failed: number;
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

/** Whatever is wrong with one job or folder, the others are swept. */
export async function sweep({ queue, store, keep, log, onSwept, now = Date.now }: SweepOptions): Promise<Sweep> {
  const changed = new Map<string, number>();
  for (const { key, changedAt } of await store.list("jobs")) {
    const id = key.split("/")[1] ?? "";
    changed.set(id, Math.max(changed.get(id) ?? 0, changedAt));
  }
  const removeIfOld = async (id: string, at: number): Promise<boolean> => {
    const status = await queue.get(id);
    const isOld = status ? hasEnded(status) && now() - (status.endedAt ?? at) > keep : now() - at > ORPHAN_AGE;
    if (!isOld) return false;
    await queue.remove(id);
    await store.remove(jobPrefix(id));
    return true;
  };
  let [removed, foreign, failed] = [0, 0, 0];
  for (const [id, at] of changed) {
    if (!jobIdSchema.safeParse(id).success) {
      foreign += 1;
      continue;
    }
    try {
      if (await removeIfOld(id, at)) removed += 1;
    } catch (cause) {
      failed += 1;
      log("warning", "sweep failed", { job: id, cause: String(cause) });
    }
  }
  if (removed > 0) log("info", "swept", { jobs: removed });
  onSwept?.({ removed, foreign, failed });
  return { removed, foreign, failed };
}
