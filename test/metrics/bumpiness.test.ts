import assert from "node:assert/strict";
import test from "node:test";
import { depthMap } from "../../src/image/depthMap.ts";
import { bumpiness, laplacianBumpiness } from "../../src/metrics/bumpiness.ts";
import type { Comparison } from "../../src/metrics/comparison.ts";
import { assertClose } from "../helpers/close.ts";

type Pixel = (x: number, y: number) => number;

function maps({ width, height }: { width: number; height: number }, depth: Pixel, truth: Pixel): Comparison {
  const fill = (pixel: Pixel): Float32Array =>
    Float32Array.from({ length: width * height }, (_, i) => pixel(i % width, Math.floor(i / width)));
  return {
    depth: depthMap({ width, height, space: "depth", values: fill(depth) }),
    trueDepth: depthMap({ width, height, space: "depth", values: fill(truth) }),
  };
}

// scikit-image's scharr_v and scharr_h applied twice as in DFV's evaluation (0.16 and 0.17 border rules), float64.
const golden = maps(
  { width: 20, height: 16 },
  (x, y) => 0.5 + 0.02 * Math.sin((x * y) / 37) + 0.01 * Math.cos(0.5 * x),
  (x, y) => (y >= 3 && y < 5 && x >= 6 && x < 9 ? NaN : 0.5),
);

test("Bump equals the published evaluation's value under both border rules", () => {
  assertClose([bumpiness(golden, { border: "zero" })], [1.202527528], 1e-6);
  assertClose([bumpiness(golden, { border: "reflect" })], [1.330618637], 1e-6);
});

test("what the truth holds where it is unknown does not matter", () => {
  const values = golden.trueDepth.values.map((value) => (Number.isNaN(value) ? 77 : value));
  assert.equal(bumpiness({ ...golden, trueDepth: { ...golden.trueDepth, values } }), bumpiness(golden));
});

test("a constant error has no bump, a small one grows in proportion, a wild one stops at 5", () => {
  const size = { width: 9, height: 9 };
  const wavy = (scale: number): number =>
    bumpiness(maps(size, (x, y) => 1 + scale * Math.sin(3 * x + 5 * y), () => 1), { border: "reflect" }); // prettier-ignore
  assert.equal(bumpiness(maps(size, () => 1.5, () => 1)), 0); // prettier-ignore
  assertClose([wavy(0.004)], [2 * wavy(0.002)], 1e-3);
  assertClose([wavy(1000)], [5], 1e-12);
});

test("the printed Laplacian of five columns of x² is the value worked by hand", () => {
  // Second differences of 0 1 4 9 16 with replicated ends: 1, 2, 2, 2, -7; squares 1 + 4 + 4 + 4 + 49 = 62.
  const parabola = maps({ width: 5, height: 1 }, (x) => x * x, () => 1); // prettier-ignore
  assertClose([laplacianBumpiness(parabola)], [62 / 5]);
});

test("the printed Laplacian takes a neighbour without a value as equal to the centre", () => {
  const broken = maps({ width: 3, height: 1 }, (x) => (x === 1 ? NaN : 5 * x), () => 1); // prettier-ignore
  assert.equal(laplacianBumpiness(broken), 0);
});
