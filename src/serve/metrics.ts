import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

import type { JobQueue } from "../queue/queue.ts";

export interface Metrics {
  readonly type: string;
  /** In Prometheus' text format. */
  readonly text: () => Promise<string>;
  readonly request: (seen: { readonly method: string; readonly route: string; readonly status: number; readonly seconds: number }) => void;
  readonly uploads: (active: number) => void;
  readonly accepted: (bytes: number) => void;
}

/** What the server counts: requests, uploads, the queue, and the process itself. `route` is the pattern, never the path. */
export function createMetrics(queue: JobQueue): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const seconds = new Histogram({
    name: "dualfocus_http_request_seconds",
    help: "Time until the answer begins.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
    registers,
  });
  const uploads = new Gauge({ name: "dualfocus_uploads", help: "Stacks that are being received.", registers });
  const bytes = new Counter({ name: "dualfocus_accepted_bytes_total", help: "Bytes of the pictures of accepted jobs.", registers });
  const submitted = new Counter({ name: "dualfocus_accepted_jobs_total", help: "Jobs that were accepted.", registers });
  const workers = new Gauge({ name: "dualfocus_workers", help: "Processes that take jobs.", registers });
  const jobs = new Gauge({ name: "dualfocus_jobs", help: "Jobs the queue knows, by state.", labelNames: ["state"], registers });
  const askQueue = async (): Promise<void> => {
    const { workers: present, ...states } = await queue.counts();
    workers.set(present);
    for (const [state, count] of Object.entries(states)) jobs.set({ state }, count);
  };
  return {
    type: registry.contentType,
    text: async () => {
      await askQueue().catch(() => {
        jobs.reset(); // better no number than an old one
      });
      return registry.metrics();
    },
    request: ({ method, route, status, seconds: taken }) => {
      seconds.observe({ method, route, status }, taken);
    },
    uploads: (active) => {
      uploads.set(active);
    },
    accepted: (size) => {
      submitted.inc();
      bytes.inc(size);
    },
  };
}
