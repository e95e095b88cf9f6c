import type { JobQueue, TenantUsage } from "../queue/queue.ts";
import { Problem } from "./problem.ts";
import type { Tenant } from "./tenants.ts";

/** A place for one upload of a tenant, held from its first byte until the job is in the queue or the upload has failed. */
export interface Reservation {
  readonly release: () => void;
}

/** Takes a place for an upload of at most this many bytes; rejects if the tenant's quota does not have it. */
export type Reserve = (tenant: Tenant, bytes: number) => Promise<Reservation>;

/** Uploads count from their first byte, so that many at the same time do not all find the same place free. */
export function createQuota(queue: Pick<JobQueue, "usage">): Reserve {
  const uploads = new Map<string, TenantUsage>();
  const add = (name: string, { jobs, bytes }: TenantUsage): void => {
    const { jobs: before, bytes: bytesBefore } = uploads.get(name) ?? { jobs: 0, bytes: 0 };
    if (before + jobs === 0) uploads.delete(name);
    else uploads.set(name, { jobs: before + jobs, bytes: bytesBefore + bytes });
  };
  return async (tenant, bytes) => {
    const { name, quota } = tenant;
    const others = uploads.get(name) ?? { jobs: 0, bytes: 0 };
    add(name, { jobs: 1, bytes });
    const release = (): void => {
      add(name, { jobs: -1, bytes: -bytes });
    };
    if (quota.jobs === Infinity && quota.bytes === Infinity) return { release };
    try {
      const { jobs, bytes: kept } = await queue.usage(name);
      if (others.jobs + jobs >= quota.jobs) throw exceeded(`${quota.jobs} of its jobs wait or run already`, "wait until one has ended");
      if (others.bytes + kept + bytes > quota.bytes)
        throw exceeded(
          `its jobs may have ${quota.bytes} bytes of images, of which ${Math.max(0, quota.bytes - kept - others.bytes)} are free`,
          "delete jobs that are no longer needed, or wait until they expire; a request needs a Content-Length to count as less than the largest",
        );
      return { release };
    } catch (cause) {
      release();
      throw cause;
    }
  };
}

const exceeded = (detail: string, remedy: string): Problem =>
  new Problem("quota-exceeded", {
    detail: `the token's quota is used up: ${detail}`,
    remedy,
    headers: { "Retry-After": "30", Connection: "close" },
  });
