import type { Sample } from "../data/dataset.ts";
import type { DepthMap } from "../image/depthMap.ts";
import type { Comparison } from "../metrics/comparison.ts";
import { badPixels, rootMeanSquaredError } from "../metrics/depthErrors.ts";
import { type DepthMetrics, measure } from "../metrics/meter.ts";
import { inPlanes } from "./planeUnits.ts";
import type { Estimate } from "./predictor.ts";
import { textureStrength, untexturedPart } from "./untextured.ts";

/** All metrics of one image. NaN (null in JSON) where a metric is undefined. */
export interface ImageMetrics extends DepthMetrics {
  /** In planes, over the ground truth within half a plane of the stack's range. */
  readonly rmsePlanes: number;
  /** Over the least textured third of the pixels with truth. */
  readonly rmseUntextured: number;
  readonly badPixUntextured: number;
}

/** Names in the order of tables and files. */
export const METRIC_NAMES = [
  ...["mse", "rmse", "logRmse", "absRel", "sqRel", "delta1", "delta2", "delta3", "within5", "within15", "within25", "bump"],
  ...["badPix", "invalidFocusTrend", "boundaryF1", "rmsePlanes", "rmseUntextured", "badPixUntextured"],
  ...["bumpReflect", "laplacianBump", "coverage"],
] as (keyof ImageMetrics)[];

/** What a protocol does to prediction and ground truth before they are compared. */
export type Scoring = (comparison: Comparison) => Comparison;

/** How many planes outside the stack's range the ground truth may lie to count in plane units. */
const WITHIN_PLANES = 0.5;

export function measureImage({ stack, trueDepth }: Sample, { depth, focusProbability }: Estimate, scoring: Scoring): ImageMetrics {
  const scored = scoring({ depth, trueDepth });
  const untextured = { ...scored, trueDepth: untexturedPart(scored.trueDepth, textureStrength(stack)) };
  const planes = (map: DepthMap, within?: number): DepthMap => inPlanes(map, stack.focusDistances, within === undefined ? {} : { within });
  const inUnits = { depth: planes(scored.depth), trueDepth: planes(scored.trueDepth, WITHIN_PLANES) };
  return {
    ...measure(scored, focusProbability ? { focusProbability } : {}),
    rmsePlanes: whereCompared(inUnits, rootMeanSquaredError),
    rmseUntextured: whereCompared(untextured, rootMeanSquaredError),
    badPixUntextured: whereCompared(untextured, badPixels),
  };
}

/** NaN if no pixel is valid in both maps. */
function whereCompared(comparison: Comparison, metric: (comparison: Comparison) => number): number {
  const { depth, trueDepth } = comparison;
  return trueDepth.valid.some((valid, i) => valid && depth.valid[i]) ? metric(comparison) : NaN;
}
