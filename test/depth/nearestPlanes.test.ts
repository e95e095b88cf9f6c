import assert from "node:assert/strict";
import { test } from "node:test";

import { nearestPlanes } from "../../src/depth/nearestPlanes.ts";
import { depthMap, type Space } from "../../src/image/depthMap.ts";

const nearest = (space: Space, focusDistances: readonly number[], depths: readonly number[]): number[] => [
  ...nearestPlanes(depthMap({ width: depths.length, height: 1, values: Float32Array.from(depths), space }), focusDistances, [
    ...focusDistances.keys(),
  ]),
];

test("metres change planes halfway in dioptres: between 1 and 2 m at 4/3 m", () => {
  assert.deepEqual(nearest("depth", [1, 2, 4], [0.5, 1, 1.32, 1.34, 2, 2.65, 2.68, 4, 9]), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
});

test("disparities, which fall, plane indices and positions change halfway as they are", () => {
  assert.deepEqual(nearest("disparity", [3, 2, 0], [4, 2.6, 2.4, 1.1, 0.9, -1]), [0, 0, 1, 1, 2, 2]);
  assert.deepEqual(nearest("index", [0, 1, 3], [0.49, 0.51, 1.9, 2.1]), [0, 1, 1, 2]);
  assert.deepEqual(nearest("position", [0, 2e-6, 4e-6], [0, 0.9e-6, 1.1e-6, 3.5e-6]), [0, 0, 1, 2]);
});
