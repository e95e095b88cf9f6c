import assert from "node:assert/strict";
import test from "node:test";
import { boxMean } from "../../src/image/boxFilter.ts";
import { curveSums } from "../../src/image/curve.ts";
import { guidedFilter } from "../../src/image/guidedFilter.ts";
import { luminance, smallLuminance } from "../../src/image/luminance.ts";
import { nthSmallest, quantile } from "../../src/image/quantile.ts";
import { modifiedLaplacian } from "../../src/classical/modifiedLaplacian.ts";
import { ringDifference } from "../../src/classical/ringDifference.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const noise = ({ width, height }: { width: number; height: number }): Float32Array => {
  const random = createRandom(9);
  return Float32Array.from({ length: width * height }, () => random.uniform());
};

test("the box mean equals the plain sum over the window inside the image, for every radius", () => {
  for (const { width, height, radius } of [
    ...[0, 1, 2, 9].map((radius) => ({ width: 7, height: 5, radius })),
    ...[1, 13, 40].map((radius) => ({ width: 83, height: 19, radius })), // wide enough for every path of the kernel
  ]) {
    const values = noise({ width, height });
    const expected = Array.from(values, (_, i) => {
      const inside = Array.from(values.keys()).filter(
        (j) => Math.abs((j % width) - (i % width)) <= radius && Math.abs(Math.floor(j / width) - Math.floor(i / width)) <= radius,
      );
      return inside.reduce((sum, j) => sum + (values[j] as number), 0) / inside.length;
    });
    assertClose(boxMean({ width, height, values }, radius), expected, 1e-6);
  }
  assert.throws(() => boxMean({ width: 1, height: 1, values: Float32Array.of(1) }, 1.5), /integer/);
});

test("the guided filter keeps a plane that is linear in the guide, and averages where the guide is flat", () => {
  const size = { width: 12, height: 9 };
  const guide = { ...size, values: noise(size) };
  const linear = guide.values.map((value) => 3 * value - 1);
  assertClose(guidedFilter(guide, { radius: 2, smoothness: 1e-9 })({ ...size, values: linear }), linear, 1e-4);
  const flat = { ...size, values: new Float32Array(108).fill(0.5) };
  const smooth = boxMean({ ...size, values: boxMean(guide, 2) }, 2);
  assertClose(guidedFilter(flat, { radius: 2, smoothness: 1e-3 })(guide), smooth, 1e-4);
});

test("the modified Laplacian adds the curvatures of a saddle that the plain Laplacian cancels", () => {
  // I = x² - y² on 5×5: second differences 2 and -2 inside.
  const values = Float32Array.from({ length: 25 }, (_, i) => (i % 5) ** 2 - Math.floor(i / 5) ** 2);
  const response = modifiedLaplacian({ width: 5, height: 5, values });
  assert.equal(response[12], 4);
  assert.equal(modifiedLaplacian({ width: 5, height: 5, values }, { step: 2 })[12], 16);
});

test("the ring difference of a bright point is 1/5 at the point, 0 in the gap, 1/16 on the ring", () => {
  // Radii 1, 2, 3: a disk of 5 pixels, a gap up to 13, a ring of 29 - 13 = 16.
  const values = Float32Array.from({ length: 121 }, (_, i) => (i === 60 ? 1 : 0));
  const response = ringDifference({ width: 11, height: 11, values });
  const at = (x: number, y: number): number => response[y * 11 + x] as number;
  assertClose([at(5, 5), at(5, 6), at(5, 8), at(7, 7)], [1 / 5, 1 / 5, 1 / 16, 1 / 16], 1e-6);
  assert.ok(at(5, 7) < 1e-9 && at(5, 9) < 1e-9);
  assert.throws(() => ringDifference({ width: 11, height: 11, values }, { disk: 2, gap: 3, ring: 3 }), /disk ≤ gap < ring, got 2, 3, 3/);
});

test("the ring difference does not answer to brightness, nor to the border of a flat picture", () => {
  const response = ringDifference({ width: 9, height: 6, values: new Float32Array(54).fill(0.7) });
  assert.ok(response.every((value) => value < 1e-6));
});

test("luma is 0.299 R + 0.587 G + 0.114 B, averaged over squares, what is left over being cropped on both sides", () => {
  const [width, height] = [11, 8];
  for (const channels of [1, 3] as const) {
    const data = noise({ width: width * channels, height });
    const at = (x: number, y: number): number => {
      const [red, green, blue] = [0, 1, 2].map((c) => data[(y * width + x) * channels + Math.min(c, channels - 1)]) as [
        number,
        number,
        number,
      ];
      return 0.299 * red + 0.587 * green + 0.114 * blue;
    };
    const image = { width, height, channels, data };
    assertClose(luminance(image).values, Array.from({ length: width * height }, (_, i) => at(i % width, Math.floor(i / width))), 1e-6); // prettier-ignore
    const small = smallLuminance(image, 3); // 3 × 2 squares from column 1, row 1 on
    const squares = [[1, 1], [4, 1], [7, 1], [1, 4], [4, 4], [7, 4]] as [number, number][]; // prettier-ignore
    const mean = ([x, y]: [number, number]): number => {
      let sum = 0;
      for (let k = 0; k < 9; k++) sum += at(x + (k % 3), y + Math.floor(k / 3)) / 9;
      return sum;
    };
    assert.deepEqual([small.width, small.height], [3, 2]);
    assertClose(small.values, squares.map(mean), 1e-6);
  }
});

test("curves are linear between their places and end on their last level exactly; those of several maps are added", () => {
  const curve = { at: [0, 0.03, 0.5], levels: [1, 0.1, 0] };
  const values = Float32Array.of(-1, 0, 0.015, 0.03, 0.265, 0.5, 7);
  assertClose(curveSums([{ values, curve }]), [1, 1, 0.55, 0.1, 0.05, 0, 0], 1e-6);
  assert.equal(curveSums([{ values, curve }])[6], 0);
  const constant = { values, curve: { at: [0.1], levels: [2] } };
  assertClose(curveSums([{ values, curve }, constant]), [3, 3, 2.55, 2.1, 2.05, 2, 2], 1e-6);
  const many = Float32Array.from({ length: 40_001 }, (_, i) => i / 40_000);
  const sums = curveSums([{ values: many, curve: { at: [0, 1], levels: [0, 3] } }]);
  assertClose(sums, many.map((value) => 3 * value), 1e-6); // prettier-ignore
});

test("a quantile is the value at its place among the sorted ones, also where some are equal", () => {
  const random = createRandom(3);
  const values = Float32Array.from({ length: 501 }, () => Math.floor(100 * random.uniform()));
  const sorted = values.toSorted();
  for (const n of [0, 1, 50, 250, 499, 500]) assert.equal(nthSmallest(values.slice(), n), sorted[n]);
  const before = values.slice();
  assert.deepEqual([quantile(values, 0), quantile(values, 0.1), quantile(values, 1)], [sorted[0], sorted[50], sorted[500]]);
  assert.deepEqual(values, before);
  const many = Float32Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_000);
  assert.ok(Math.abs(quantile(many, 0.1) - 10_000) < 200);
});
