import assert from "node:assert/strict";
import { test } from "node:test";

import { addPlane, collapsed, createLevels, fuseImages } from "../../src/depth/allInFocus/fusion.ts";
import { planePrior } from "../../src/depth/allInFocus/prior.ts";
import { cropImage } from "../../src/image/crop.ts";
import type { Image } from "../../src/image/image.ts";
import { imageRows } from "../../src/image/rows.ts";
import type { FocusProbability } from "../../src/network/focusProbability.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { gaussianBlur, slantedStack, texture } from "../helpers/texturedStack.ts";
import { laplacianEnergy, sharpShare } from "../helpers/laplacianEnergy.ts";

const grey = (width: number, height: number, at: (x: number, y: number) => number): Image => ({
  width,
  height,
  channels: 1,
  data: Float32Array.from({ length: width * height }, (_, i) => at(i % width, Math.floor(i / width))),
});

/** p that peaks at a plane, e times lower for each plane of distance. */
function probabilityAt(
  { planes, width, height }: { planes: number; width: number; height: number },
  peak: (x: number) => number,
): FocusProbability {
  const area = width * height;
  const values = new Float32Array(planes * area);
  for (let i = 0; i < area; i++) {
    const column = Array.from({ length: planes }, (_, n) => Math.exp(-2 * Math.abs(n - peak(i % width))));
    const sum = column.reduce((total, value) => total + value, 0);
    column.forEach((value, n) => (values[n * area + i] = value / sum));
  }
  return { planes, width, height, values };
}

const rms = (a: Image, b: Image): number =>
  Math.sqrt(a.data.reduce((sum, value, i) => sum + (value - (b.data[i] as number)) ** 2, 0) / a.data.length);

test("where nothing is fine enough to choose, pixels are Σ p² I / Σ p²: 0.8 and 0.6 of white and black give 0.64", () => {
  const probability = { planes: 2, width: 1, height: 1, values: Float32Array.from([0.8, 0.6]) };
  assertClose(fuseImages([grey(1, 1, () => 1), grey(1, 1, () => 0)], probability).data, [0.64]);
});

test("planes that are alike come out as they are, in colour, in any size, whatever p says", () => {
  const random = createRandom(5);
  const image: Image = { width: 37, height: 23, channels: 3, data: Float32Array.from({ length: 37 * 23 * 3 }, () => random.uniform()) };
  const values = Float32Array.from({ length: 3 * 6 }, () => random.uniform());
  for (const [width, height] of [
    [2, 3],
    [3, 2],
  ] as const)
    assertClose(fuseImages([image, image, image], { planes: 3, width, height, values }).data, image.data, 1e-5);
});

test("a slanted plane is nowhere softer than its sharpest frame, and nearer to the truth than any frame", () => {
  const { stack, allInFocus } = slantedStack({ width: 160, height: 64, planes: 5 });
  // The network is wrong by up to half a plane.
  const probability = probabilityAt({ planes: 5, width: 160, height: 64 }, (x) => 0.6 + (2.8 * x) / 159 + 0.5 * Math.sin(x / 9));
  const fused = fuseImages(stack.images, probability);
  const { sharp, textured } = sharpShare(laplacianEnergy(fused), stack.images.map(laplacianEnergy), { threshold: 0.02 });
  assert.ok(textured > 0.4, `${textured} of the image is textured`);
  assert.ok(sharp > 0.95, `${sharp} as sharp as the sharpest frame`);
  const nearest = Math.min(...stack.images.map((image) => rms(image, allInFocus)));
  assert.ok(rms(fused, allInFocus) < 0.5 * nearest, `${rms(fused, allInFocus)} from the truth; the nearest frame ${nearest}`);
});

test("a plane that p excludes contributes nothing, however sharp it is", () => {
  const sharp = texture({ width: 64, height: 64, seed: 2 });
  const soft = gaussianBlur(sharp, () => 2);
  const one = (plane: number): FocusProbability => {
    const values = new Float32Array(4 * 64 * 64);
    values.fill(1, plane * 4096, (plane + 1) * 4096);
    return { planes: 4, width: 64, height: 64, values };
  };
  assertClose(fuseImages([soft, soft, soft, sharp], one(0)).data, soft.data, 1e-4);
  assertClose(fuseImages([soft, soft, soft, sharp], one(3)).data, sharp.data, 1e-4);
});

test("tiles leave no trace: the middle of a wide image is that of a part of it", () => {
  const [width, height] = [1200, 32];
  const base = texture({ width, height, seed: 3 });
  const images = [0, 1, 2].map((plane) => gaussianBlur(base, (x) => 0.7 * Math.abs(plane - (2 * x) / width)));
  const probability = probabilityAt({ planes: 3, width, height }, (x) => (2 * x) / width);
  const whole = fuseImages(images, probability);
  const part = { left: 320, top: 0, width: 400, height }; // around the border of two tiles, at 512
  const area = width * height;
  const values = new Float32Array(3 * part.width * height);
  for (let n = 0; n < 3; n++) {
    const plane = { width, height, channels: 1 as const, data: probability.values.subarray(n * area, (n + 1) * area) };
    values.set(cropImage(plane, part).data, n * part.width * height);
  }
  const alone = fuseImages(images.map((image) => cropImage(image, part)), { planes: 3, width: part.width, height, values }); // prettier-ignore
  const inner = { left: 96, top: 0, width: 208, height };
  assertClose(cropImage(alone, inner).data, cropImage(whole, { ...inner, left: 96 + 320 }).data, 1e-5);
});

test("a frame is not used where it does not cover the result; there the reserve is", () => {
  const [width, height] = [96, 64];
  const reference = gaussianBlur(texture({ width, height, seed: 4 }), () => 1.5);
  const sharp = texture({ width, height, seed: 4 });
  // Aligned by 24 pixels: what it shows of the left is the repeated border.
  const smeared = { ...sharp, data: sharp.data.map((value, i) => (Math.floor(i / 3) % width < 24 ? 1 : value)) };
  const values = new Float32Array(2 * width * height).fill(0, 0, width * height).fill(1, width * height);
  const prior = planePrior({ planes: 2, width, height, values });
  const levels = createLevels(reference);
  addPlane(levels, imageRows(reference), { maps: prior.maps(0), coverage: { isReserve: true, covers: () => true } });
  const covers = (x: number, _: number, margin: number): boolean => x - margin >= 24;
  addPlane(levels, imageRows(smeared), { maps: prior.maps(1), coverage: { isReserve: false, covers } });
  const fused = collapsed(levels);
  const strip = (image: Image, left: number, count: number): Float32Array => cropImage(image, { left, top: 0, width: count, height }).data;
  assertClose(strip(fused, 0, 16), strip(reference, 0, 16), 0.05);
  assertClose(strip(fused, 80, 16), strip(sharp, 80, 16), 0.02);
});

test("at an edge that is seen through, near keeps the object and far keeps what lies behind it", () => {
  const [width, height] = [64, 64];
  // Both planes show detail of their own around the edge in the middle, and p allows both.
  const random = createRandom(6);
  const noise = (): Image => ({
    width,
    height,
    channels: 1,
    data: Float32Array.from({ length: 4096 }, () => 0.3 + 0.4 * random.uniform()),
  });
  const [object, between, behind] = [noise(), grey(width, height, () => 0.5), noise()];
  const planes = [object, between, between, between, behind];
  const probability = probabilityAt({ planes: 5, width, height }, (x) => (x < 32 ? 0 : 4));
  const strip = (image: Image): Image => cropImage(image, { left: 31, top: 8, width: 2, height: 48 });
  const near = strip(fuseImages(planes, probability, { prefer: "near" }));
  const far = strip(fuseImages(planes, probability, { prefer: "far" }));
  assert.ok(rms(near, strip(object)) < 0.5 * rms(near, strip(behind)), `near: ${rms(near, strip(object))}, ${rms(near, strip(behind))}`);
  assert.ok(rms(far, strip(behind)) < 0.5 * rms(far, strip(object)), `far: ${rms(far, strip(behind))}, ${rms(far, strip(object))}`);
});
