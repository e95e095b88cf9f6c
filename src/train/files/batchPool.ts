import { Worker } from "node:worker_threads";
import type { BatchPlan } from "./batchPlan.ts";
import type { BatchRecipe } from "./batches.ts";
import type { Batch } from "./collate.ts";
import { DatasetError } from "../../data/dataset.ts";
import type { DatasetSource } from "../../data/open.ts";

/** What every worker is told once. */
export interface WorkerTask {
  readonly sources: readonly DatasetSource[];
  readonly recipe: BatchRecipe;
}

export interface Request {
  readonly id: number;
  readonly plan: BatchPlan;
}

export type Reply = { readonly id: number } & ({ readonly batch: Batch } | { readonly error: string });

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, { resolve: (batch: Batch) => void; reject: (error: Error) => void }>;
}

/** Threads that make batches; each request goes to the thread with the least to do. */
export function openPool(task: WorkerTask, size: number): { run(plan: BatchPlan): Promise<Batch>; close(): Promise<void> } {
  const threads = Array.from({ length: size }, () => openThread(task));
  let next = 0;
  return {
    run: (plan) =>
      new Promise((resolve, reject) => {
        const [thread] = [...threads].sort((a, b) => a.waiting.size - b.waiting.size);
        if (!thread) throw new RangeError("batches: a pool needs at least one worker");
        const id = next++;
        thread.waiting.set(id, { resolve, reject });
        thread.worker.postMessage({ id, plan } satisfies Request);
      }),
    close: async () => {
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}

/** Compiled, the worker is a file beside this one. From source, its thread must first learn to read TypeScript. */
function startWorker(task: WorkerTask): Worker {
  const file = (extension: string): URL => new URL(`./batchWorker.${extension}`, import.meta.url);
  if (!import.meta.url.endsWith(".ts")) return new Worker(file("js"), { workerData: task });
  const [tsx, source] = [import.meta.resolve("tsx/esm/api"), file("ts").href].map((url) => JSON.stringify(url));
  const start = `import(${tsx ?? ""}).then(({ register }) => { register(); return import(${source ?? ""}); })`;
  return new Worker(start, { eval: true, workerData: task });
}

function openThread(task: WorkerTask): Thread {
  const worker = startWorker(task);
  const waiting: Thread["waiting"] = new Map();
  worker.on("message", (reply: Reply) => {
    const request = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("batch" in reply) request?.resolve(reply.batch);
    else request?.reject(new DatasetError(reply.error));
  });
  const fail = (error: Error): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on("error", fail);
  worker.on("exit", (code) => {
    fail(new DatasetError(`batches: a worker thread ended with code ${code}`));
  });
  return { worker, waiting };
}
