import { type Comparison, meanOverValid } from "./comparison.ts";

/*
 * The per-pixel metrics of the paper's A.4 and other common ones. d is the prediction, d* the truth, N the number of compared pixels.
 * Metrics that divide by a depth or take its logarithm are undefined for values that are not positive (some sets have negative
 * disparities) and for positions, whose zero is arbitrary: they return NaN, which JSON writes as null.
 */

/** The mean of a metric that depends on where zero is. */
const meanRelative = (comparison: Comparison, metric: string, term: (depth: number, truth: number) => number): number => {
  const hasZero = comparison.trueDepth.space !== "position";
  return meanOverValid(comparison, metric, (depth, truth) => (hasZero && truth > 0 ? term(depth, truth) : NaN));
};

/** (1/N) Σ (d - d*)² */
export const meanSquaredError = (comparison: Comparison): number =>
  meanOverValid(comparison, "meanSquaredError", (depth, truth) => (depth - truth) ** 2);

/** √((1/N) Σ (d - d*)²) */
export const rootMeanSquaredError = (comparison: Comparison): number => Math.sqrt(meanSquaredError(comparison));

/** √((1/N) Σ (ln d - ln d*)²) */
export const logRootMeanSquaredError = (comparison: Comparison): number =>
  Math.sqrt(
    meanRelative(comparison, "logRootMeanSquaredError", (depth, truth) => (depth > 0 ? (Math.log(depth) - Math.log(truth)) ** 2 : NaN)),
  );

/** (1/N) Σ |d - d*| / d* */
export const absoluteRelativeError = (comparison: Comparison): number =>
  meanRelative(comparison, "absoluteRelativeError", (depth, truth) => Math.abs(depth - truth) / truth);

/** (1/N) Σ (d - d*)² / d* */
export const squaredRelativeError = (comparison: Comparison): number =>
  meanRelative(comparison, "squaredRelativeError", (depth, truth) => (depth - truth) ** 2 / truth);

/** δₖ: the share, 0 to 1, of pixels with max(d / d*, d* / d) < 1.25ᵏ. A prediction that is not positive is outside. */
export function ratioAccuracy(comparison: Comparison, { power }: { power: 1 | 2 | 3 }): number {
  const limit = 1.25 ** power;
  return meanRelative(comparison, "ratioAccuracy", (depth, truth) => (depth > 0 && Math.max(depth / truth, truth / depth) < limit ? 1 : 0));
}

/** The share, 0 to 1, of pixels with |d - d*| / d* < `tolerance`: FOSSA's "within 5 / 15 / 25 %". */
export const shareWithin = (comparison: Comparison, { tolerance }: { tolerance: number }): number =>
  meanRelative(comparison, "shareWithin", (depth, truth) => (Math.abs(depth - truth) / truth < tolerance ? 1 : 0));

/** BadPix: the share, 0 to 1, of pixels with |d - d*| > `threshold`. 0.07 is the light-field benchmarks' value (disparity, pixels). */
export const badPixels = (comparison: Comparison, { threshold = 0.07 }: { threshold?: number } = {}): number =>
  meanOverValid(comparison, "badPixels", (depth, truth) => (Math.abs(depth - truth) > threshold ? 1 : 0));
