import type { Sample, Wall } from "../data/dataset.ts";
import type { DepthMap } from "../image/depthMap.ts";
import { boundaryF1 } from "../metrics/boundary.ts";
import type { Comparison } from "../metrics/comparison.ts";
import { badPixels, meanSquaredError, rootMeanSquaredError } from "../metrics/depthErrors.ts";
import { type DepthMetrics, measure } from "../metrics/meter.ts";
import { inPlanes } from "./planeUnits.ts";
import { measureClaims } from "./claims.ts";
import type { Estimate } from "./predictor.ts";
import { besideObjects, nearSilhouette, nearestOfObject } from "./silhouette.ts";
import { textureStrength, textureThirds } from "./untextured.ts";

/** All metrics of one image. NaN (null in JSON) where a metric is undefined. */
export interface ImageMetrics extends DepthMetrics {
  /** In planes, over the ground truth within half a plane of the stack's range. */
  readonly rmsePlanes: number;
  /** Over the least textured third of the pixels with truth. */
  readonly rmseUntextured: number;
  readonly badPixUntextured: number;
  /** In planes, over the thirds of those pixels by texture. */
  readonly rmsePlanesUntextured: number;
  readonly rmsePlanesMiddle: number;
  readonly rmsePlanesTextured: number;
  /** In planes, over the object's pixels within 30 pixels of its silhouette; share of them more than three planes off; over the others. */
  readonly rmseSilhouette: number;
  readonly offSilhouette: number;
  readonly rmseInside: number;
  /** Share of the background's pixels within 5 pixels of the object that the depth gives to it: nearer to the object's plane there than to the background's. */
  readonly fattening: number;
  /** In planes, over a bare wall behind objects, and over its pixels within 30 pixels of one. */
  readonly rmseWall: number;
  readonly rmseBeside: number;
  /** The same of the finished depth. Networks only. */
  readonly mseFinished: number;
  readonly rmseFinished: number;
  readonly badPixFinished: number;
  readonly boundaryF1Finished: number;
  readonly rmsePlanesFinished: number;
  readonly rmsePlanesUntexturedFinished: number;
  readonly rmseSilhouetteFinished: number;
  readonly offSilhouetteFinished: number;
  readonly rmseInsideFinished: number;
  readonly fatteningFinished: number;
  readonly rmseWallFinished: number;
  readonly rmseBesideFinished: number;
  /** Share of the errors within the claimed ±e: of the truth within half a plane of the stack's range, and of its most and least textured thirds. Networks only. */
  readonly withinError: number;
  readonly withinErrorTextured: number;
  readonly withinErrorUntextured: number;
  /** The same of a bare wall and of its pixels within 30 pixels of an object, and the median of the errors claimed there, in planes. */
  readonly withinErrorWall: number;
  readonly withinErrorBeside: number;
  readonly claimedErrorWall: number;
  readonly claimedErrorBeside: number;
  /** Areas under the sparsification curves of the errors in planes, by the claimed error and by the spread of p. */
  readonly sparsification: number;
  readonly sparsificationBySpread: number;
}

/** Names in the order of tables and files. */
export const METRIC_NAMES = [
  ...["mse", "rmse", "logRmse", "absRel", "sqRel", "delta1", "delta2", "delta3", "within5", "within15", "within25", "bump"],
  ...["badPix", "invalidFocusTrend", "boundaryF1", "rmsePlanes", "rmseUntextured", "badPixUntextured"],
  ...["rmsePlanesUntextured", "rmsePlanesMiddle", "rmsePlanesTextured", "rmseSilhouette", "offSilhouette", "rmseInside", "fattening"],
  ...["rmseWall", "rmseBeside"],
  ...["mseFinished", "rmseFinished", "badPixFinished", "boundaryF1Finished", "rmsePlanesFinished", "rmsePlanesUntexturedFinished"],
  ...[
    "rmseSilhouetteFinished",
    "offSilhouetteFinished",
    "rmseInsideFinished",
    "fatteningFinished",
    "rmseWallFinished",
    "rmseBesideFinished",
  ],
  ...["withinError", "withinErrorTextured", "withinErrorUntextured", "sparsification", "sparsificationBySpread"],
  ...["withinErrorWall", "withinErrorBeside", "claimedErrorWall", "claimedErrorBeside"],
  ...["bumpReflect", "laplacianBump", "coverage"],
] as (keyof ImageMetrics)[];

/** What a protocol does to prediction and ground truth before they are compared. */
export type Scoring = (comparison: Comparison) => Comparison;

/** How many planes outside the stack's range the ground truth may lie to count in plane units. */
const WITHIN_PLANES = 0.5;

export function measureImage(sample: Sample, estimate: Estimate, scoring: Scoring): ImageMetrics {
  const { stack, trueDepth } = sample;
  const { depth, focusProbability } = estimate;
  const scored = scoring({ depth, trueDepth });
  const strength = textureStrength(stack);
  const untextured = { ...scored, trueDepth: textureThirds(scored.trueDepth, strength)[0] };
  const planes = (map: DepthMap, within?: number): DepthMap => inPlanes(map, stack.focusDistances, within === undefined ? {} : { within });
  const inUnits = { depth: planes(scored.depth), trueDepth: planes(scored.trueDepth, WITHIN_PLANES) };
  const thirds = textureThirds(inUnits.trueDepth, strength);
  const rmseOver = (part: DepthMap): number => whereCompared({ ...inUnits, trueDepth: part }, rootMeanSquaredError);
  const object = sample.object && objectParts(sample.object, inUnits.trueDepth);
  const wall = sample.wall && wallParts(sample.wall, inUnits.trueDepth);
  const finished = estimate.finished && scoring({ depth: estimate.finished, trueDepth });
  return {
    ...measure(scored, focusProbability ? { focusProbability } : {}),
    rmsePlanes: rmseOver(inUnits.trueDepth),
    rmseUntextured: whereCompared(untextured, rootMeanSquaredError),
    badPixUntextured: whereCompared(untextured, badPixels),
    rmsePlanesUntextured: rmseOver(thirds[0]),
    rmsePlanesMiddle: rmseOver(thirds[1]),
    rmsePlanesTextured: rmseOver(thirds[2]),
    ...objectMetrics(inUnits, object),
    ...wallMetrics(inUnits, wall),
    ...(finished
      ? finishedMetrics(finished, { inUnits: { ...inUnits, depth: planes(finished.depth) }, untextured: thirds[0], object, wall })
      : NOT_FINISHED),
    ...measureClaims({ trueDepth, within: inUnits.trueDepth, strength, wall }, estimate),
  };
}

const FINISHED_NAMES = METRIC_NAMES.filter((name) => name.endsWith("Finished")) as (keyof FinishedMetrics)[];
type FinishedMetrics = Pick<ImageMetrics, Extract<keyof ImageMetrics, `${string}Finished`>>;

const NOT_FINISHED = Object.fromEntries(FINISHED_NAMES.map((name) => [name, NaN])) as unknown as FinishedMetrics;

interface FinishedParts {
  /** In planes. */
  readonly inUnits: Comparison;
  /** The truth of the least textured third, in planes. */
  readonly untextured: DepthMap;
  readonly object: ObjectParts | undefined;
  readonly wall: WallParts | undefined;
}

function finishedMetrics(finished: Comparison, { inUnits, untextured, object, wall }: FinishedParts): FinishedMetrics {
  const { rmseSilhouette, offSilhouette, rmseInside, fattening } = objectMetrics(inUnits, object);
  const { rmseWall, rmseBeside } = wallMetrics(inUnits, wall);
  return {
    mseFinished: meanSquaredError(finished),
    rmseFinished: rootMeanSquaredError(finished),
    badPixFinished: badPixels(finished),
    boundaryF1Finished: boundaryF1(finished),
    rmsePlanesFinished: whereCompared(inUnits, rootMeanSquaredError),
    rmsePlanesUntexturedFinished: whereCompared({ ...inUnits, trueDepth: untextured }, rootMeanSquaredError),
    rmseSilhouetteFinished: rmseSilhouette,
    offSilhouetteFinished: offSilhouette,
    rmseInsideFinished: rmseInside,
    fatteningFinished: fattening,
    rmseWallFinished: rmseWall,
    rmseBesideFinished: rmseBeside,
  };
}

interface ObjectParts {
  /** The truth of the object's pixels near its silhouette, and of its others, in planes. */
  readonly silhouette: DepthMap;
  readonly inside: DepthMap;
  /** For every pixel of the background beside the object the object's pixel nearest to it; −1 elsewhere. */
  readonly nearest: Int32Array;
}

function objectParts(object: Uint8Array, trueDepth: DepthMap): ObjectParts {
  const near = nearSilhouette(object, trueDepth);
  return {
    silhouette: validWhere(trueDepth, (i) => near[i] === 1),
    inside: validWhere(trueDepth, (i) => object[i] === 1 && near[i] === 0),
    nearest: nearestOfObject(object, trueDepth),
  };
}

/** The truth of a bare wall, and of its pixels near objects, in planes. */
export interface WallParts {
  readonly whole: DepthMap;
  readonly beside: DepthMap;
}

function wallParts({ pixels, objects }: Wall, trueDepth: DepthMap): WallParts {
  const near = besideObjects(objects, trueDepth);
  return {
    whole: validWhere(trueDepth, (i) => pixels[i] === 1),
    beside: validWhere(trueDepth, (i) => pixels[i] === 1 && near[i] === 1),
  };
}

const validWhere = (map: DepthMap, isIn: (i: number) => boolean): DepthMap => ({
  ...map,
  valid: map.valid.map((valid, i) => (valid && isIn(i) ? 1 : 0)),
});

function wallMetrics(inUnits: Comparison, wall: WallParts | undefined): Pick<ImageMetrics, "rmseWall" | "rmseBeside"> {
  const rmseOver = (trueDepth: DepthMap | undefined): number =>
    trueDepth ? whereCompared({ ...inUnits, trueDepth }, rootMeanSquaredError) : NaN;
  return { rmseWall: rmseOver(wall?.whole), rmseBeside: rmseOver(wall?.beside) };
}

/** A plane index more than this far from the truth is a different place, not an inaccuracy. */
const OFF_PLANES = 3;

function objectMetrics(
  inUnits: Comparison,
  object: ObjectParts | undefined,
): Pick<ImageMetrics, "rmseSilhouette" | "offSilhouette" | "rmseInside" | "fattening"> {
  if (!object) return { rmseSilhouette: NaN, offSilhouette: NaN, rmseInside: NaN, fattening: NaN };
  const silhouette = { ...inUnits, trueDepth: object.silhouette };
  return {
    rmseSilhouette: whereCompared(silhouette, rootMeanSquaredError),
    offSilhouette: whereCompared(silhouette, (compared) => badPixels(compared, { threshold: OFF_PLANES })),
    rmseInside: whereCompared({ ...inUnits, trueDepth: object.inside }, rootMeanSquaredError),
    fattening: fatteningOf(inUnits, object),
  };
}

/** All in planes. Where the background lies beyond the planes, and so is not known, its plane is the last: that is where it belongs. */
function fatteningOf({ depth, trueDepth }: Comparison, { nearest }: ObjectParts): number {
  const beside = Array.from(nearest.keys()).filter((i) => (nearest[i] as number) >= 0 && depth.valid[i] === 1);
  const middle = (i: number): number => ((trueDepth.values[i] as number) + (trueDepth.values[nearest[i] as number] as number)) / 2;
  return beside.filter((i) => (depth.values[i] as number) < middle(i)).length / beside.length;
}

/** NaN if no pixel is valid in both maps. */
function whereCompared(comparison: Comparison, metric: (comparison: Comparison) => number): number {
  const { depth, trueDepth } = comparison;
  return trueDepth.valid.some((valid, i) => valid && depth.valid[i]) ? metric(comparison) : NaN;
}
