import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { z } from "zod";

import { describeIssues, legible } from "../errors.ts";
import { withTemporaryFolder } from "../system/temporaryFolder.ts";
import { depthSettings, type DepthSettings } from "../depth/settings.ts";
import { frameOf, jobPrefix, type Job } from "../queue/job.ts";
import type { JobQueue } from "../queue/queue.ts";
import type { FileStore } from "../queue/store.ts";
import { createFrameChecker } from "./frameChecker.ts";
import { checkFrameSet, type CheckedFrame } from "./frames.ts";
import type { Limits } from "./limits.ts";
import { Problem } from "./problem.ts";
import { createQuota } from "./quota.ts";
import type { Tenant } from "./tenants.ts";
import { createTurns } from "./turns.ts";
import { receiveUpload } from "./upload.ts";

export interface Submitting {
  readonly queue: JobQueue;
  readonly store: FileStore;
  /** Folder for what is being received. */
  readonly uploads: string;
  readonly limits: Limits;
  /** Called with the number of uploads. */
  readonly onActive: (uploads: number) => void;
  /** Called with the size of an accepted job's images, in bytes. */
  readonly onAccepted: (bytes: number) => void;
}

/** Headers are read and TIFFs measured this many at a time, however many clients there are. */
const CHECKS_AT_ONCE = 2;

/** Takes a request for depth from its first byte to a job in the queue, and resolves to the job's id. */
export function createSubmit({
  queue,
  store,
  uploads,
  limits,
  onActive,
  onAccepted,
}: Submitting): (request: IncomingMessage, tenant: Tenant) => Promise<string> {
  const inTurn = createGate(CHECKS_AT_ONCE);
  const checkFrames = createFrameChecker();
  const reserve = createQuota(queue);
  const turns = createTurns();
  let active = 0;
  const receive = (request: IncomingMessage, { name: tenant }: Tenant): Promise<string> =>
    withTemporaryFolder(uploads, async (folder) => {
      const { files, options, bytes } = await receiveUpload(request, { folder, limits, turns });
      const settings = await turns(() => readSettings(options));
      const frames = await inTurn(() => checkFrames(files, limits));
      checkFrameSet(frames, settings);
      await checkRoom(queue, limits);
      const id = await putJob({ frames, settings, tenant, bytes }, { queue, store });
      onAccepted(bytes);
      return id;
    });
  return async (request, tenant) => {
    await checkRoom(queue, limits); // before a byte of the body is read
    if (active >= limits.uploads) throw busy(`${active} stacks are being received already`, 5);
    onActive((active += 1));
    try {
      const place = await reserve(tenant, mostBytes(request, limits));
      return await receive(request, tenant).finally(place.release);
    } finally {
      onActive((active -= 1));
    }
  };
}

/** A request says how long it is, or may have the largest size. */
const mostBytes = ({ headers }: IncomingMessage, { requestBytes }: Limits): number =>
  Math.min(Number(headers["content-length"] ?? requestBytes), requestBytes);

const busy = (detail: string, seconds: number): Problem =>
  new Problem("busy", {
    detail,
    remedy: `try again in ${seconds} seconds`,
    headers: { "Retry-After": String(seconds), Connection: "close" },
  });

async function checkRoom(queue: JobQueue, { queued: most }: Limits): Promise<void> {
  const { queued } = await queue.counts();
  if (queued >= most) throw busy(`${queued} jobs are waiting already`, 30);
}

function readSettings(text = "{}"): DepthSettings {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (cause) {
    throw new Problem("bad-request", {
      detail: "“options” is not JSON",
      remedy: 'send it as {"distances": [0.5, 0.7], "unit": "m"}',
      cause,
    });
  }
  const { success, data, error } = depthSettings.safeParse(given);
  if (!success)
    throw new Problem("invalid", {
      detail: legible(
        describeIssues(z.prettifyError(firstIssues(error)))
          .replaceAll("✖ ", "")
          .replaceAll(/ {2,}/g, " "),
      ),
      remedy: "correct “options”; GET /docs says what it may hold",
      cause: error,
    });
  return data;
}

/** A list of thousands of wrong values takes longer to describe than to read. */
const firstIssues = (error: z.ZodError): z.ZodError => new z.ZodError(error.issues.slice(0, MOST_ISSUES));
const MOST_ISSUES = 10;

/** The images into the store, then the job into the queue; if either fails, neither is left. */
async function putJob(
  { frames, ...job }: { frames: readonly CheckedFrame[] } & Pick<Job, "settings" | "tenant" | "bytes">,
  { queue, store }: Pick<Submitting, "queue" | "store">,
): Promise<string> {
  const id = randomUUID();
  const placed = frames.map(({ ending }, n) => frameOf(id, n, ending));
  try {
    for (const [n, { key }] of placed.entries()) await store.move(key, (frames[n] as CheckedFrame).file);
    await queue.submit({ id, frames: placed, ...job });
  } catch (error) {
    await store.remove(jobPrefix(id));
    throw error;
  }
  return id;
}

/** Runs at most `places` tasks at a time, the others in the order they came. */
function createGate(places: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (task) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
