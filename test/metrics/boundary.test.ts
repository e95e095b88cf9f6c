import assert from "node:assert/strict";
import test from "node:test";
import { type DepthMap, depthMap } from "../../src/image/depthMap.ts";
import { boundaryF1 } from "../../src/metrics/boundary.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const row = (...values: number[]): DepthMap =>
  depthMap({ width: values.length, height: 1, space: "depth", values: Float32Array.from(values) });

test("a contour in the right place scores 1, one pixel off scores 0, one of two scores 2/3", () => {
  assert.equal(boundaryF1({ depth: row(1, 1, 2, 2), trueDepth: row(3, 3, 6, 6) }), 1);
  assert.equal(boundaryF1({ depth: row(1, 2, 2, 2), trueDepth: row(1, 1, 2, 2) }), 0);
  assertClose([boundaryF1({ depth: row(1, 2, 2, 2), trueDepth: row(1, 2, 2, 4) })], [2 / 3]);
});

test("a step of 15 % is found at the five thresholds below it, each weighted by its ratio", () => {
  // t = 1.05 + 0.2 i / 9: below 1.15 for i = 0..4. Σ t = 11.5, Σ_{i<5} t = 5.25 + 0.2·10/9.
  const got = boundaryF1({ depth: row(1, 1.15), trueDepth: row(1, 2) });
  assertClose([got], [(5.25 + 2 / 9) / 11.5]);
});

test("a step towards the camera is not a step away from it", () => {
  assert.equal(boundaryF1({ depth: row(2, 1), trueDepth: row(1, 2) }), 0);
});

test("two flat maps agree fully, and depth and inverse depth score the same", () => {
  assert.equal(boundaryF1({ depth: row(1, 1), trueDepth: row(4, 4) }), 1);
  const random = createRandom(3);
  const noise = (): DepthMap =>
    depthMap({ width: 8, height: 8, space: "depth", values: Float32Array.from({ length: 64 }, () => 1 + random.uniform()) });
  const [depth, trueDepth] = [noise(), noise()];
  const inverse = (map: DepthMap): DepthMap => ({ ...map, values: map.values.map((value) => 1 / value) });
  assertClose([boundaryF1({ depth: inverse(depth), trueDepth: inverse(trueDepth) })], [boundaryF1({ depth, trueDepth })], 1e-3);
});

test("contours at a hole are not counted, and values that are not positive give NaN", () => {
  assert.equal(boundaryF1({ depth: row(1, 9, 1), trueDepth: row(1, NaN, 1) }), 1);
  assert.equal(boundaryF1({ depth: row(1, -1), trueDepth: row(1, 1) }), NaN);
});
