import { boundaryF1 } from "./boundary.ts";
import { bumpiness, laplacianBumpiness } from "./bumpiness.ts";
import { type Comparison, comparedPixels } from "./comparison.ts";
import {
  absoluteRelativeError,
  badPixels,
  logRootMeanSquaredError,
  meanSquaredError,
  ratioAccuracy,
  rootMeanSquaredError,
  shareWithin,
  squaredRelativeError,
} from "./depthErrors.ts";
import { type FocusProbability, invalidFocusTrend } from "./focusTrend.ts";

/** Every metric by name. Shares are fractions, 0 to 1. NaN (null in JSON) if undefined for these images; see each function. */
export interface DepthMetrics {
  readonly mse: number;
  readonly rmse: number;
  readonly logRmse: number;
  readonly absRel: number;
  readonly sqRel: number;
  readonly delta1: number;
  readonly delta2: number;
  readonly delta3: number;
  readonly within5: number;
  readonly within15: number;
  readonly within25: number;
  readonly badPix: number;
  /** Hazirbas' Bump with zeroed borders, as in the published numbers, and with mirrored ones. */
  readonly bump: number;
  readonly bumpReflect: number;
  /** The formula in the paper, which its tables do not use. */
  readonly laplacianBump: number;
  readonly boundaryF1: number;
  /** NaN for methods that predict no focus probability. */
  readonly invalidFocusTrend: number;
  /** Share of the pixels with known truth that the prediction has a value for. */
  readonly coverage: number;
}

export interface MeasureOptions {
  readonly focusProbability?: FocusProbability;
  readonly badPixThreshold?: number;
}

/** All metrics of one image. */
export function measure(comparison: Comparison, { focusProbability, badPixThreshold = 0.07 }: MeasureOptions = {}): DepthMetrics {
  const { mask, count } = comparedPixels(comparison, "measure");
  return {
    mse: meanSquaredError(comparison),
    rmse: rootMeanSquaredError(comparison),
    logRmse: logRootMeanSquaredError(comparison),
    absRel: absoluteRelativeError(comparison),
    sqRel: squaredRelativeError(comparison),
    delta1: ratioAccuracy(comparison, { power: 1 }),
    delta2: ratioAccuracy(comparison, { power: 2 }),
    delta3: ratioAccuracy(comparison, { power: 3 }),
    within5: shareWithin(comparison, { tolerance: 0.05 }),
    within15: shareWithin(comparison, { tolerance: 0.15 }),
    within25: shareWithin(comparison, { tolerance: 0.25 }),
    badPix: badPixels(comparison, { threshold: badPixThreshold }),
    bump: bumpiness(comparison, { border: "zero" }),
    bumpReflect: bumpiness(comparison, { border: "reflect" }),
    laplacianBump: laplacianBumpiness(comparison),
    boundaryF1: boundaryF1(comparison),
    invalidFocusTrend: focusProbability ? invalidFocusTrend(focusProbability, { valid: mask }) : NaN,
    coverage: count / comparison.trueDepth.valid.reduce((sum, valid) => sum + valid, 0),
  };
}

/** The mean over images of each metric: every image counts once, whatever its number of valid pixels (as in DFV and HybridDepth). */
export function meanMetrics<M extends Readonly<Record<keyof M, number>>>(perImage: readonly M[]): M {
  const [first] = perImage;
  if (!first) throw new RangeError("meanMetrics: no image was measured");
  const names = Object.keys(first) as (keyof M)[];
  const mean = (name: keyof M): number => perImage.reduce((sum, metrics) => sum + metrics[name], 0) / perImage.length;
  return Object.fromEntries(names.map((name) => [name, mean(name)])) as M;
}
