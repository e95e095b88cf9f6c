import { randomUUID } from "node:crypto";
import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { JobQueue } from "../queue/queue.ts";
import type { Limits } from "./limits.ts";

export interface ReadinessOptions {
  readonly queue: Pick<JobQueue, "ping" | "counts">;
  /** Folder for what is being received. */
  readonly uploads: string;
  /** Workers there must be; 0 where they are started when jobs wait. */
  readonly minWorkers: number;
  readonly limits: Pick<Limits, "freeBytes">;
  /** Aborted when the server is about to stop. */
  readonly stopping: AbortSignal;
  /** Milliseconds for which an answer holds, so that asking often costs nothing. */
  readonly maxAge?: number;
}

/** Resolves to why a job that is sent now would not be computed; to nothing if it would. */
export type Readiness = () => Promise<string | undefined>;

export function createReadiness(options: ReadinessOptions): Readiness {
  const { stopping, maxAge = 1000 } = options;
  let [last, askedAt]: [Promise<string | undefined> | undefined, number] = [undefined, 0];
  return () => {
    if (stopping.aborted) return Promise.resolve("the server is stopping");
    if (!last || performance.now() - askedAt >= maxAge) [last, askedAt] = [firstReason(options), performance.now()];
    return last;
  };
}

async function firstReason(options: ReadinessOptions): Promise<string | undefined> {
  return (await diskReason(options)) ?? (await queueReason(options));
}

/** By writing, for a disk may be read-only or a quota used up; by its free bytes, for the next stack is larger than a few bytes. */
async function diskReason({ uploads, limits }: ReadinessOptions): Promise<string | undefined> {
  const file = join(uploads, `.ready-${randomUUID()}`);
  try {
    await writeFile(file, "ready", { flag: "wx", mode: 0o600 });
    const { bavail, bsize } = await statfs(uploads);
    return bavail * bsize < limits.freeBytes ? "the disk is full" : undefined;
  } catch {
    return "the disk takes no files";
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

async function queueReason({ queue, minWorkers }: ReadinessOptions): Promise<string | undefined> {
  const counts = await queue.counts().catch(() => undefined);
  if (!counts) return "the queue cannot be reached";
  const isWritable = await queue.ping().then(
    () => true,
    () => false,
  );
  if (!isWritable) return "the queue accepts no jobs";
  return counts.workers < minWorkers ? "no worker takes jobs" : undefined;
}
