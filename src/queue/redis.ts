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

/** The jobs of a tenant that are kept, with the bytes of their frames. */
export const tenantKey = (tenant: string): string => `${PREFIX}:tenant:${tenant}`;

/** Written to find out whether Redis takes writes. */
export const READY_KEY = `${PREFIX}:ready`;

/** Worker processes by the time they were last heard of. */
export const WORKERS_KEY = `${PREFIX}:workers`;
/** Milliseconds between two signs of life, and after which a worker counts as dead. */
export const HEARTBEAT = { every: 5000, missing: 20_000 } as const;

/** How often a job may lose its worker before the job itself is taken to be the cause. */
export const MOST_LOSSES = 3;

/** `patient`: commands wait as long as Redis is away, as a worker must; else they fail after a second or two. */
export function connect(url: string, { patient }: { patient: boolean }): Redis {
  if (!addressOf(url)) throw new DualFocusError("bad-redis-address", "what was given is not the address of a Redis");
  return new Redis(url, {
    maxRetriesPerRequest: patient ? null : 4,
    retryStrategy: (times) => Math.min(50 * 2 ** times, 2000),
    connectTimeout: 5000,
  });
}

/** Undefined if it is no such address. */
function addressOf(url: string): URL | undefined {
  const parsed = /^rediss?:\/\/[^\s]+$/.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  return parsed && parsed.hostname !== "" ? parsed : undefined;
}

/** The host and port alone, for people and logs. Of what is not an address nothing is shown: any part of it may be the password. */
export function withoutPassword(url: string): string {
  const address = addressOf(url);
  return address ? `${address.protocol}//${address.host}` : "redis://…";
}

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
