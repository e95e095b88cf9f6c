import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

import type { JobQueue } from "../queue/queue.ts";
import type { Readiness } from "./readiness.ts";
import type { Sweep } from "./sweeper.ts";

export interface Metrics {
  readonly type: string;
  /** In Prometheus' text format. */
  readonly text: () => Promise<string>;
  readonly request: (seen: { readonly method: string; readonly route: string; readonly status: number; readonly seconds: number }) => void;
  readonly uploads: (active: number) => void;
  readonly accepted: (bytes: number) => void;
  /** A connection beyond a client's share was refused. */
  readonly connectionRefused: () => void;
  readonly swept: (sweep: Sweep) => void;
}

/** What the server counts: requests, uploads, the queue, and the process itself. `route` is the pattern, never the path. */
export function createMetrics({ queue, readiness }: { readonly queue: JobQueue; readonly readiness: Readiness }): Metrics {
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
  const bytes = new Counter({ name: "dualfocus_accepted_bytes_total", help: "Bytes of the images of accepted jobs.", registers });
  const submitted = new Counter({ name: "dualfocus_accepted_jobs_total", help: "Jobs that were accepted.", registers });
  const workers = new Gauge({ name: "dualfocus_workers", help: "Processes that take jobs.", registers });
  const jobs = new Gauge({ name: "dualfocus_jobs", help: "Jobs the queue knows, by state.", labelNames: ["state"], registers });
  const ready = new Gauge({ name: "dualfocus_ready", help: "1 if a job that is sent now would be computed.", registers });
  const refused = new Counter({ name: "dualfocus_refused_connections_total", help: "Connections beyond a client's share.", registers });
  const sweptJobs = new Counter({ name: "dualfocus_swept_jobs_total", help: "Jobs whose files were removed after their time.", registers });
  const sweepFailures = new Counter({ name: "dualfocus_sweep_failures_total", help: "Jobs that could not be removed.", registers });
  const foreign = new Gauge({ name: "dualfocus_foreign_folders", help: "Folders among the jobs that are none of ours.", registers });
  const askQueue = async (): Promise<void> => {
    const { workers: present, ...states } = await queue.counts();
    workers.set(present);
    for (const [state, count] of Object.entries(states)) jobs.set({ state }, count);
  };
  return {
    type: registry.contentType,
    text: async () => {
      ready.set((await readiness()) === undefined ? 1 : 0);
      await askQueue().catch(() => {
        jobs.reset(); // better no number than an old one
        workers.remove();
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
    connectionRefused: () => {
      refused.inc();
    },
    swept: (sweep) => {
      sweptJobs.inc(sweep.removed);
      sweepFailures.inc(sweep.failed);
      foreign.set(sweep.foreign);
    },
  };
}
