import { Redis } from "ioredis";

import { UserError } from "../system/userError.ts";
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
/** Milliseconds between two signs of life, and after which a worker is taken for dead. */
export const HEARTBEAT = { every: 5000, missing: 20_000 } as const;

/** How often a job may lose its worker before it is taken for the reason. */
export const MOST_LOSSES = 3;

/** `patient`: commands wait as long as Redis is away, as a worker must; else they fail after a second or two, for callers who can tell. */
export function connect(url: string, { patient }: { patient: boolean }): Redis {
  if (!/^rediss?:\/\/[^/\s]+/.test(url))
    throw new UserError(`--redis ${url}: not the address of a Redis`, {
      exitCode: 2,
      remedy: "it reads redis://host:6379 or rediss://:password@host:6380",
    });
  return new Redis(url, {
    maxRetriesPerRequest: patient ? null : 4,
    retryStrategy: (times) => Math.min(50 * 2 ** times, 2000),
    connectTimeout: 5000,
  });
}

/** The address without a password, for logs. */
export function withoutPassword(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
