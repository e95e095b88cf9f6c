import type { DepthMap } from "../image/depthMap.ts";

/**
 * A predicted and a true depth map. Every metric of this folder uses the pixels where both are valid; a network's prediction is valid
 * everywhere, so for a network this is the usual mask: where the truth is known.
 */
export interface Comparison {
  readonly depth: DepthMap;
  readonly trueDepth: DepthMap;
}

/** `mask[i]` is 1 where both maps are valid; `count` is how many such pixels there are, at least one. */
export function comparedPixels({ depth, trueDepth }: Comparison, metric: string): { readonly mask: Uint8Array; readonly count: number } {
  if (depth.width !== trueDepth.width || depth.height !== trueDepth.height)
    throw new RangeError(
      `${metric}: the prediction is ${depth.width}×${depth.height} but the truth is ${trueDepth.width}×${trueDepth.height}; resize one first`,
    );
  if (depth.space !== trueDepth.space)
    throw new RangeError(`${metric}: the prediction is ${depth.space} but the truth is ${trueDepth.space}; convert one first`);
  const mask = new Uint8Array(trueDepth.valid.length);
  let count = 0;
  for (let i = 0; i < mask.length; i++) {
    if (!trueDepth.valid[i] || !depth.valid[i]) continue;
    mask[i] = 1;
    count += 1;
  }
  if (count === 0) throw new RangeError(`${metric}: no pixel is valid in both the prediction and the truth`);
  return { mask, count };
}

/** (1/N) Σ term(dᵢ, dᵢ*) over the N compared pixels. */
export function meanOverValid(comparison: Comparison, metric: string, term: (depth: number, trueDepth: number) => number): number {
  const { mask, count } = comparedPixels(comparison, metric);
  const [predicted, truth] = [comparison.depth.values, comparison.trueDepth.values];
  let sum = 0;
  for (let i = 0; i < mask.length; i++) if (mask[i]) sum += term(predicted[i] as number, truth[i] as number);
  return sum / count;
}
