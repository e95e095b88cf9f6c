import assert from "node:assert/strict";
import test from "node:test";
import { boxMean } from "../../src/image/boxFilter.ts";
import { guidedFilter } from "../../src/image/guidedFilter.ts";
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
