import { createRandom } from "../../random.ts";
import type { Random } from "../../random.ts";

/** What decides which samples make up a batch, apart from the sets themselves. */
export interface BatchOptions {
  readonly batchSize: number;
  readonly seed: number;
  /** Without shuffling the samples come in the order of the set, again and again. */
  readonly shuffle?: boolean;
  /** A number, or a range from which each batch draws its own; left out, every plane the samples have. */
  readonly planes?: number | readonly [least: number, most: number];
  /** This process's share when several train together: they take neighbouring pieces of the same stream. */
  readonly shard?: { readonly rank: number; readonly worldSize: number };
}

/** One batch to make: indices into the joined sets, a name for each item's own randomness, and the number of planes. */
export interface BatchPlan {
  readonly items: readonly { readonly index: number; readonly position: number }[];
  readonly planes: number | undefined;
}

/**
 * The stream of samples is one shuffled pass over the set after another, end to end, so no sample is dropped and any batch size fits
 * any set. A step's batch follows from the step alone: a resumed run, or one with more workers, sees the same batches.
 */
export function planBatches(size: number, options: BatchOptions): (step: number) => BatchPlan {
  const { batchSize, seed, shuffle = true, planes, shard = { rank: 0, worldSize: 1 } } = options;
  if (!(Number.isInteger(batchSize) && batchSize > 0)) throw new RangeError(`batches: the batch size must be at least 1, got ${batchSize}`);
  if (!(size > 0)) throw new RangeError("batches: the set is empty");
  if (!(shard.rank >= 0 && shard.rank < shard.worldSize))
    throw new RangeError(`batches: there is no rank ${shard.rank} of ${shard.worldSize}`);
  const random = createRandom(seed);
  const orders = new Map<number, Uint32Array>();
  const orderOf = (epoch: number): Uint32Array => {
    const known = orders.get(epoch) ?? permutation(size, shuffle ? random.split(`epoch ${epoch}`) : undefined);
    if (orders.size > 2) orders.clear();
    orders.set(epoch, known);
    return known;
  };
  return (step) => {
    const start = (step * shard.worldSize + shard.rank) * batchSize;
    const items = Array.from({ length: batchSize }, (_, i) => {
      const position = start + i;
      return { index: orderOf(Math.floor(position / size))[position % size] as number, position };
    });
    return { items, planes: drawCount(planes, random.split(`planes ${step}`)) };
  };
}

/** 0 … size - 1 in an order drawn by `random` (Fisher and Yates), or as they are. */
function permutation(size: number, random: Random | undefined): Uint32Array {
  const order = Uint32Array.from({ length: size }, (_, i) => i);
  if (random)
    for (let last = size - 1; last > 0; last--) {
      const chosen = random.integer(last + 1);
      const kept = order[last] as number;
      order[last] = order[chosen] as number;
      order[chosen] = kept;
    }
  return order;
}

function drawCount(planes: BatchOptions["planes"], random: Random): number | undefined {
  if (planes === undefined || typeof planes === "number") return planes;
  const [least, most] = planes;
  if (!(least <= most)) throw new RangeError(`batches: the range of planes ${least} to ${most} is empty`);
  return least + random.integer(most - least + 1);
}
