import { parentPort, workerData } from "node:worker_threads";
import { makeBatch } from "./batches.ts";
import type { Reply, Request, WorkerTask } from "./batchPool.ts";
import type { Batch } from "./collate.ts";
import { openDataset } from "../../data/open.ts";

/** A thread of the pool: opens the sets once, then makes one batch after another. */
const { sources, recipe } = workerData as WorkerTask;
const opening = Promise.all(sources.map(({ name, dir, options }) => openDataset(name, dir, options)));
opening.catch(() => undefined); // each request reports it

async function answer({ id, plan }: Request): Promise<void> {
  try {
    const batch = await makeBatch(plan, await opening, recipe);
    parentPort?.postMessage({ id, batch } satisfies Reply, buffersOf(batch));
  } catch (error) {
    parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) } satisfies Reply);
  }
}

/** Handed over instead of copied. */
const buffersOf = ({ images, focusDistances, trueDepth, valid }: Batch): ArrayBuffer[] =>
  [images, focusDistances, trueDepth, valid].map(({ buffer }) => buffer as ArrayBuffer);

let last = Promise.resolve(); // one batch at a time keeps memory to one batch per thread
parentPort?.on("message", (request: Request) => {
  last = last.then(() => answer(request));
});
