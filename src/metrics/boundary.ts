import { type Comparison, comparedPixels } from "./comparison.ts";

/** Depth Pro's ratios: ten, from 5 % to 25 %. */
const THRESHOLDS = Array.from({ length: 10 }, (_, i) => 1.05 + (0.2 * i) / 9);

/** How many contours the prediction has, how many the truth has, and how many they share, per threshold. */
interface ContourCounts {
  readonly predicted: Uint32Array;
  readonly actual: Uint32Array;
  readonly shared: Uint32Array;
}

/** Counts a pair of neighbouring pixels, by its ratios d(j) / d(i), for every threshold it passes. */
function countPair(counts: ContourCounts, predictedRatio: number, trueRatio: number): void {
  for (let t = 0; t < THRESHOLDS.length; t++) {
    const limit = THRESHOLDS[t] as number;
    const inPrediction = predictedRatio > limit;
    const inTruth = trueRatio > limit;
    if (!inPrediction && !inTruth) return;
    if (inPrediction) counts.predicted[t] = (counts.predicted[t] as number) + 1;
    if (inTruth) counts.actual[t] = (counts.actual[t] as number) + 1;
    if (inPrediction && inTruth) counts.shared[t] = (counts.shared[t] as number) + 1;
  }
}

/**
 * Boundary F1 of Depth Pro (Bochkovskii et al. 2024, §3.3). An occluding contour lies between the 4-neighbours i and j, seen from i,
 * where d(j) / d(i) > t. With precision and recall of the prediction's contours, over all ordered pairs of compared pixels:
 *
 *     F1(t) = 2 · shared / (predicted + actual),   boundaryF1 = Σ t · F1(t) / Σ t   for ten t from 1.05 to 1.25
 *
 * Pairs are pooled over the four directions, as the paper's formula sums them, and a threshold at which neither map has a contour counts
 * as full agreement. Ratios make it the same for depth and for inverse depth. NaN where a compared value is not positive.
 */
export function boundaryF1(comparison: Comparison): number {
  const { mask } = comparedPixels(comparison, "boundaryF1");
  const { width, values } = comparison.depth;
  const truth = comparison.trueDepth.values;
  const [predicted, actual, shared] = [0, 1, 2].map(() => new Uint32Array(THRESHOLDS.length)) as [Uint32Array, Uint32Array, Uint32Array];
  const counts = { predicted, actual, shared };
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    if (!((values[i] as number) > 0 && (truth[i] as number) > 0)) return NaN;
    const hasRight = i % width < width - 1;
    for (const j of hasRight ? [i + 1, i + width] : [i + width]) {
      if (!mask[j]) continue; // also below the last row, where there is no mask value
      const predictedRatio = (values[j] as number) / (values[i] as number);
      const trueRatio = (truth[j] as number) / (truth[i] as number);
      countPair(counts, predictedRatio, trueRatio);
      countPair(counts, 1 / predictedRatio, 1 / trueRatio);
    }
  }
  const totalWeight = THRESHOLDS.reduce((sum, t) => sum + t, 0);
  return THRESHOLDS.reduce((sum, limit, t) => {
    const contours = (predicted[t] as number) + (actual[t] as number);
    const f1 = contours === 0 ? 1 : (2 * (shared[t] as number)) / contours;
    return sum + (limit * f1) / totalWeight;
  }, 0);
}
