import { Redis } from "ioredis";
import { z } from "zod";

import { DualFocusError, ERRORS, type ErrorCode, type ErrorFacts, type ErrorReport } from "../errors.ts";
import type { Job } from "./job.ts";

/** Of all keys in Redis, so that it can be shared. */
export const PREFIX = "dualfocus";
export const QUEUE = "depth";

/** What a job is in Redis. */
export interface StoredJob {
  readonly job: Job;
  /** Whoever computes it stops and removes it. */
  readonly cancelled?: true;
}

/** Worker processes by the time they were last heard of. */
export const WORKERS_KEY = `${PREFIX}:workers`;
/** Milliseconds between two signs of life, and after which a worker counts as dead. */
export const HEARTBEAT = { every: 5000, missing: 20_000 } as const;

/** How often a job may lose its worker before the job itself is taken to be the cause. */
export const MOST_LOSSES = 3;

/** `patient`: commands wait as long as Redis is away, as a worker must; else they fail after a second or two. */
export function connect(url: string, { patient }: { patient: boolean }): Redis {
  if (!/^rediss?:\/\/[^/\s]+/.test(url))
    throw new DualFocusError("bad-redis-address", `${withoutPassword(url)}: not the address of a Redis`);
  return new Redis(url, {
    maxRetriesPerRequest: patient ? null : 4,
    retryStrategy: (times) => Math.min(50 * 2 ** times, 2000),
    connectTimeout: 5000,
  });
}

/** The address without a password, for people and logs; also of what is no address at all. */
export const withoutPassword = (url: string): string => url.replace(/^([^/@]*\/\/)?.*@/, "$1").replace(/[?#].*$/, "");

const CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
const errorSchema = z.object({
  code: z.enum(CODES),
  message: z.string(),
  facts: z.custom<ErrorFacts>((value) => typeof value === "object"),
});

/** A failure as the reason that Redis keeps of it, which is one text. */
export const encodeJobError = (error: ErrorReport): string => JSON.stringify(error);

/** BullMQ has reasons of its own, for instance for a job that lost its worker too often. */
export function decodeJobError(reason: string): ErrorReport {
  if (/stalled more than/.test(reason))
    return { code: "worker-lost", message: `its worker disappeared ${MOST_LOSSES + 1} times`, facts: { times: MOST_LOSSES + 1 } };
  try {
    return errorSchema.parse(JSON.parse(reason));
  } catch {
    return { code: "internal", message: reason, facts: {} };
  }
}
