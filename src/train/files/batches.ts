import { createRandom } from "../../random.ts";
import { augment, drawWindow } from "./augment.ts";
import type { AugmentOptions } from "./augment.ts";
import { planBatches } from "./batchPlan.ts";
import type { BatchOptions, BatchPlan } from "./batchPlan.ts";
import { openPool } from "./batchPool.ts";
import { collate } from "./collate.ts";
import type { Batch } from "./collate.ts";
import type { ChooseWindow, Dataset, Sample } from "../../data/dataset.ts";
import { openDataset } from "../../data/open.ts";
import type { DatasetSource } from "../../data/open.ts";

export type { Batch } from "./collate.ts";

/** Batches by step. `batch(step)` gives the same batch whenever and however often it is asked. */
export interface Batches {
  /** Samples in the joined sets. */
  readonly size: number;
  readonly stepsPerEpoch: number;
  batch(step: number): Promise<Batch>;
  close(): Promise<void>;
}

/** How one batch is made from its plan; the same in this thread and in a worker. */
export interface BatchRecipe {
  readonly seed: number;
  readonly augment: AugmentOptions;
}

/** Batches made in this thread, from sets that are open already (also sets that only exist in memory). */
export function batchesOf(datasets: readonly Dataset[], options: BatchOptions & { readonly augment?: AugmentOptions }): Batches {
  const size = totalSize(datasets);
  const plan = planBatches(size, options);
  const recipe = { seed: options.seed, augment: options.augment ?? {} };
  return {
    size,
    stepsPerEpoch: stepsPerEpoch(size, options),
    batch: (step) => makeBatch(plan(step), datasets, recipe),
    close: () => {
      for (const dataset of datasets) dataset.close();
      return Promise.resolve();
    },
  };
}

/**
 * Batches decoded and augmented in worker threads, `prefetch` steps ahead. The number of workers changes the speed, never the batches.
 * Without workers everything happens in this thread.
 */
export async function openBatches(
  sources: readonly DatasetSource[],
  options: BatchOptions & { readonly augment?: AugmentOptions; readonly workers?: number; readonly prefetch?: number },
): Promise<Batches> {
  const datasets = await Promise.all(sources.map(({ name, dir, options: chosen }) => openDataset(name, dir, chosen)));
  const here = batchesOf(datasets, options);
  const { workers = 0, prefetch = 2 * workers } = options;
  if (workers === 0) return here;
  await here.close(); // only its size was needed; each worker opens the sets for itself

  const plan = planBatches(here.size, options);
  const pool = openPool({ sources, recipe: { seed: options.seed, augment: options.augment ?? {} } }, workers);
  const inFlight = new Map<number, Promise<Batch>>();
  const request = (step: number): Promise<Batch> => {
    const promise = inFlight.get(step) ?? pool.run(plan(step));
    promise.catch(() => undefined); // a failure ahead of time is reported when its step is asked for
    inFlight.set(step, promise);
    return promise;
  };
  return {
    size: here.size,
    stepsPerEpoch: here.stepsPerEpoch,
    batch: (step) => {
      for (const old of inFlight.keys()) if (old < step || old > step + prefetch) inFlight.delete(old);
      const wanted = request(step);
      for (let ahead = 1; ahead <= prefetch; ahead++) void request(step + ahead);
      return wanted;
    },
    close: () => pool.close(),
  };
}

/** Reads, augments and collates the items of a plan. Each item's randomness is named by its place in the stream. */
export async function makeBatch(
  { items, planes }: BatchPlan,
  datasets: readonly Dataset[],
  { seed, augment: chosen }: BatchRecipe,
): Promise<Batch> {
  const random = createRandom(seed);
  const { crop, ...rest } = planes === undefined ? chosen : { ...chosen, planes };
  const samples: Sample[] = [];
  for (const { index, position } of items) {
    const { dataset, local } = locate(datasets, index);
    const own = random.split(`sample ${position}`);
    const choose: ChooseWindow | undefined = crop === undefined ? undefined : (truth) => drawWindow(truth, { ...rest, crop }, own);
    samples.push(augment(await dataset.sample(local, choose), rest, own));
  }
  return collate(samples);
}

const totalSize = (datasets: readonly Dataset[]): number => datasets.reduce((sum, { size }) => sum + size, 0);

const stepsPerEpoch = (size: number, { batchSize, shard }: BatchOptions): number => size / (batchSize * (shard?.worldSize ?? 1));

/** Sets one after another, as one. */
function locate(datasets: readonly Dataset[], index: number): { dataset: Dataset; local: number } {
  let local = index;
  for (const dataset of datasets) {
    if (local < dataset.size) return { dataset, local };
    local -= dataset.size;
  }
  throw new RangeError(`batches: there is no sample ${index}`);
}
