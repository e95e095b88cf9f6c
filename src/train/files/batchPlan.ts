import { createRandom, type Random } from "../../random.ts";
import type { BatchConfig } from "../config.ts";
import { stacksFor } from "../deviceAugment.ts";
import type { Share } from "../source.ts";

/** Which stacks of a stream without end make up the batch of each step. */
export interface BatchPlan {
  /** The stacks of a step, by their place in the stream, and the planes each is to have. */
  at(step: number): { readonly from: number; readonly size: number; readonly planes: number };
  readonly largest: number;
  readonly meanSize: number;
}

/** Each batch draws one of the plane counts; with more planes it has fewer stacks. The same for every process. */
export function planBatches(batch: BatchConfig, seed: number): BatchPlan {
  const { planes: counts, size } = batch;
  const random = createRandom(seed).split("planes");
  const planesAt = (step: number): number => counts[random.split(step).integer(counts.length)] as number;
  const sizeFor = (planes: number): number => (planes === counts[0] ? size : stacksFor(batch, planes));
  const sizes = counts.map(sizeFor);
  const starts = [0]; // of every step up to the last one asked for
  return {
    at(step) {
      for (let next = starts.length; next <= step; next++) starts.push((starts[next - 1] as number) + sizeFor(planesAt(next - 1)));
      const planes = planesAt(step);
      return { from: starts[step] as number, size: sizeFor(planes), planes };
    },
    largest: Math.max(...sizes),
    meanSize: sizes.reduce((sum, each) => sum + each, 0) / sizes.length,
  };
}

/** Which stack of the set comes at a place of this process's stream, and its position in the stream of all processes. */
export type StackOrder = (place: number) => { readonly index: number; readonly position: number };

/**
 * One shuffled pass over a set of `size` stacks after another, end to end, so no stack is dropped and any batch size fits. Processes that
 * train together take turns. The place alone decides: a resumed run sees the same stacks.
 */
export function shuffledOrder(size: number, { seed, share }: { readonly seed: number; readonly share: Share }): StackOrder {
  const random = createRandom(seed);
  const passes = new Map<number, Uint32Array>();
  const passOf = (epoch: number): Uint32Array => {
    const known = passes.get(epoch) ?? permutation(size, random.split(`epoch ${epoch}`));
    if (passes.size > 2) passes.clear();
    passes.set(epoch, known);
    return known;
  };
  return (place) => {
    const position = place * share.of + share.rank;
    return { index: passOf(Math.floor(position / size))[position % size] as number, position };
  };
}

/** 0 … size − 1 in an order drawn by `random` (Fisher and Yates). */
function permutation(size: number, random: Random): Uint32Array {
  const order = Uint32Array.from({ length: size }, (_, i) => i);
  for (let last = size - 1; last > 0; last--) {
    const chosen = random.integer(last + 1);
    const kept = order[last] as number;
    order[last] = order[chosen] as number;
    order[chosen] = kept;
  }
  return order;
}
