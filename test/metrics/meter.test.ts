import assert from "node:assert/strict";
import test from "node:test";
import { depthMap } from "../../src/image/depthMap.ts";
import type { Comparison } from "../../src/metrics/comparison.ts";
import { meanMetrics, measure } from "../../src/metrics/meter.ts";
import { assertClose } from "../helpers/close.ts";

const flat = ({ depth, pixels }: { depth: number; pixels: number }): Comparison => {
  const map = (value: number): ReturnType<typeof depthMap> =>
    depthMap({ width: pixels, height: 1, space: "depth", values: new Float32Array(pixels).fill(value) });
  return { depth: map(depth), trueDepth: map(1) };
};

test("an image counts once in the mean, however many pixels it has, and RMSE is the mean of each image's root", () => {
  const mean = meanMetrics([measure(flat({ depth: 2, pixels: 1 })), measure(flat({ depth: 4, pixels: 100 }))]);
  assertClose([mean.mse, mean.rmse, mean.absRel], [(1 + 9) / 2, (1 + 3) / 2, (1 + 3) / 2]);
});

test("a perfect prediction has no error, full accuracy and full coverage", () => {
  const { mse, bump, delta1, within5, boundaryF1, badPix, coverage, invalidFocusTrend } = measure(flat({ depth: 1, pixels: 4 }));
  assert.deepEqual([mse, bump, badPix, delta1, within5, boundaryF1, coverage], [0, 0, 0, 1, 1, 1, 1]);
  assert.equal(invalidFocusTrend, NaN);
});

test("coverage is the share of known truth that has a prediction", () => {
  const comparison = flat({ depth: 1, pixels: 4 });
  assert.equal(measure({ ...comparison, depth: { ...comparison.depth, valid: Uint8Array.of(1, 0, 1, 1) } }).coverage, 0.75);
});

test("the focus probability is judged on the compared pixels", () => {
  const values = Float32Array.of(0.4, 0.2, 0.2, 0.6, 0.4, 0.2); // [3, 1, 2]
  const focusProbability = { planes: 3, width: 2, height: 1, values };
  assert.equal(measure(flat({ depth: 1, pixels: 2 }), { focusProbability }).invalidFocusTrend, 0.5);
});

test("no images is an error", () => {
  assert.throws(() => meanMetrics([]), /no image was measured/);
});
