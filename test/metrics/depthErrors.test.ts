import assert from "node:assert/strict";
import test from "node:test";
import { depthMap } from "../../src/image/depthMap.ts";
import type { Comparison } from "../../src/metrics/comparison.ts";
import {
  absoluteRelativeError,
  badPixels,
  logRootMeanSquaredError,
  meanSquaredError,
  ratioAccuracy,
  rootMeanSquaredError,
  shareWithin,
  squaredRelativeError,
} from "../../src/metrics/depthErrors.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

function compare(
  values: number[],
  truth: number[],
  { valid, width = values.length }: { valid?: number[]; width?: number } = {},
): Comparison {
  const size = { width, height: values.length / width, space: "depth" } as const;
  const mask = valid ? { valid: Uint8Array.from(valid) } : {};
  return {
    depth: depthMap({ ...size, values: Float32Array.from(values) }),
    trueDepth: depthMap({ ...size, values: Float32Array.from(truth), ...mask }),
  };
}

// Errors 1, 0, -1, (100 masked out); truths 1, 2, 4.
const worked = compare([2, 2, 3, 100], [1, 2, 4, 8], { valid: [1, 1, 1, 0], width: 2 });

test("four pixels, one masked, give the values worked by hand", () => {
  assertClose([meanSquaredError(worked)], [2 / 3]);
  assertClose([rootMeanSquaredError(worked)], [Math.sqrt(2 / 3)]);
  assertClose([absoluteRelativeError(worked)], [(1 + 0 + 0.25) / 3]);
  assertClose([squaredRelativeError(worked)], [(1 + 0 + 0.25) / 3]);
  assertClose([logRootMeanSquaredError(worked)], [Math.sqrt((Math.log(2) ** 2 + Math.log(0.75) ** 2) / 3)]);
  // ratios 2, 1, 4/3; limits 1.25, 1.5625, 1.953125
  assertClose([ratioAccuracy(worked, { power: 1 })], [1 / 3]);
  assertClose([ratioAccuracy(worked, { power: 2 })], [2 / 3]);
  assertClose([ratioAccuracy(worked, { power: 3 })], [2 / 3]);
  // relative errors 1, 0, 0.25
  assertClose([shareWithin(worked, { tolerance: 0.05 })], [1 / 3]);
  assertClose([shareWithin(worked, { tolerance: 0.25 })], [1 / 3]);
  assertClose([shareWithin(worked, { tolerance: 0.3 })], [2 / 3]);
  assertClose([badPixels(worked)], [2 / 3]);
  assert.equal(badPixels(worked, { threshold: 1 }), 0);
});

test("a prediction 1.3 times the truth has AbsRel 0.3, log RMSE ln 1.3, no pixel in δ₁ and all in δ₂", () => {
  const random = createRandom(7);
  const truth = Array.from({ length: 60 }, () => 0.5 + 5 * random.uniform());
  const scaled = compare(truth.map((value) => 1.3 * value), truth); // prettier-ignore
  assertClose([absoluteRelativeError(scaled)], [0.3]);
  assertClose([logRootMeanSquaredError(scaled)], [Math.log(1.3)]);
  assert.equal(ratioAccuracy(scaled, { power: 1 }), 0);
  assert.equal(ratioAccuracy(scaled, { power: 2 }), 1);
});

test("a pixel the prediction does not cover is left out", () => {
  const withHole = compare([2, NaN], [1, 1]);
  assert.equal(meanSquaredError(withHole), 1);
});

test("ratios are not defined for truths that are not positive, and say so with NaN", () => {
  const negative = compare([-1, 2], [-1, 2]);
  assert.equal(meanSquaredError(negative), 0);
  for (const metric of [absoluteRelativeError, squaredRelativeError, logRootMeanSquaredError]) assert.equal(metric(negative), NaN);
  assert.equal(ratioAccuracy(negative, { power: 1 }), NaN);
  assert.equal(shareWithin(negative, { tolerance: 0.05 }), NaN);
});

test("ratios are not defined for positions, whose zero is arbitrary, while differences are", () => {
  const map = (...values: number[]) => depthMap({ width: 2, height: 1, values: Float32Array.from(values), space: "position" });
  const comparison = { depth: map(2, 5), trueDepth: map(1, 4) };
  assert.equal(rootMeanSquaredError(comparison), 1);
  for (const metric of [absoluteRelativeError, squaredRelativeError, logRootMeanSquaredError]) assert.ok(Number.isNaN(metric(comparison)));
  assert.ok(Number.isNaN(ratioAccuracy(comparison, { power: 1 })) && Number.isNaN(shareWithin(comparison, { tolerance: 0.05 })));
});

test("a negative prediction of a positive truth is never inside δ", () => {
  assert.equal(ratioAccuracy(compare([-1, 1], [1, 1]), { power: 3 }), 0.5);
});

test("no valid pixel, another size and another space are errors that say so", () => {
  assert.throws(() => meanSquaredError(compare([1], [1], { valid: [0] })), /no pixel is valid/);
  const other = compare([1, 1], [1, 1], { width: 1 });
  assert.throws(() => meanSquaredError({ ...compare([1, 1], [1, 1]), trueDepth: other.trueDepth }), /2×1 but the truth is 1×2/);
  const disparity = { ...worked.trueDepth, space: "disparity" as const };
  assert.throws(() => meanSquaredError({ ...worked, trueDepth: disparity }), /prediction is depth but the truth is disparity/);
});
