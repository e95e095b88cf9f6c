import assert from "node:assert/strict";
import { test } from "node:test";
import { adjustImage } from "../../../src/train/files/adjust.ts";
import { augment, drawPlanes } from "../../../src/train/files/augment.ts";
import { cropSample } from "../../../src/data/dataset.ts";
import { padSample } from "../../../src/data/ddff12.ts";
import type { Sample } from "../../../src/data/dataset.ts";
import { flipSample, maskToFocusRange, mirrorPlanes, transposeSample } from "../../../src/train/files/flip.ts";
import { warpImage } from "../../../src/image/warp.ts";
import { createRandom } from "../../../src/random.ts";
import { checkFocusDistances } from "../../../src/stack/focalStack.ts";
import { assertClose } from "../../helpers/close.ts";
import { randomSample } from "../../data/files.ts";

const grey = (width: number, data: number[]) => ({
  width,
  height: data.length / width,
  channels: 1 as const,
  data: Float32Array.from(data),
});

/** 2 planes of 2×2 grey pixels, worked by hand. */
const tiny: Sample = {
  name: "tiny",
  stack: { images: [grey(2, [0.1, 0.2, 0.3, 0.4]), grey(2, [0.5, 0.6, 0.7, 0.8])], focusDistances: [1, 3], space: "depth" },
  trueDepth: { width: 2, height: 2, values: Float32Array.of(1, 2, 3, 4), valid: Uint8Array.of(1, 1, 0, 1), space: "depth" },
};

test("flips and the transpose move pictures, depth and mask together", () => {
  const across = flipSample(tiny, "columns");
  assertClose(across.stack.images[0]?.data ?? [], [0.2, 0.1, 0.4, 0.3], 1e-6);
  assert.deepEqual([...across.trueDepth.values, ...across.trueDepth.valid], [2, 1, 4, 3, 1, 1, 1, 0]);
  assert.deepEqual([...flipSample(tiny, "rows").trueDepth.values], [3, 4, 1, 2]);
  assert.deepEqual([...transposeSample(tiny).trueDepth.values], [1, 3, 2, 4]);
});

test("flipping twice, transposing twice and mirroring twice change nothing", () => {
  const sample = randomSample();
  assert.deepEqual(flipSample(flipSample(sample, "columns"), "columns"), sample);
  assert.deepEqual(flipSample(flipSample(sample, "rows"), "rows"), sample);
  assert.deepEqual(transposeSample(transposeSample(sample)), sample);
  const mirrored = mirrorPlanes(mirrorPlanes(sample));
  assert.deepEqual([mirrored.stack, mirrored.trueDepth.valid], [sample.stack, sample.trueDepth.valid]);
  assertClose(mirrored.trueDepth.values, sample.trueDepth.values, 1e-6);
});

test("mirrored planes: the last picture is the nearest, and distance to focus is kept", () => {
  const { stack, trueDepth } = mirrorPlanes(tiny);
  assert.deepEqual([stack.focusDistances, stack.images[0]], [[1, 3], tiny.stack.images[1]]);
  assert.deepEqual([...trueDepth.values], [3, 2, 1, 0]);
  assert.deepEqual([...trueDepth.valid], [1, 1, 0, 0]); // 0 m is no depth
});

test("only depths between the first and last focus stay valid", () => {
  assert.deepEqual([...maskToFocusRange(tiny).trueDepth.valid], [1, 1, 0, 0]);
});

test("cropping what was padded gives the sample back; the padding mirrors and is invalid", () => {
  const sample = randomSample({ width: 5, height: 4 });
  const padded = padSample(sample, { width: 8, height: 6 });
  assert.deepEqual(cropSample(padded, { left: 0, top: 0, width: 5, height: 4 }), sample);
  const { data } = padded.stack.images[0] ?? tiny.stack.images[0] ?? grey(1, [0]);
  assert.equal(data[5 * 3], data[3 * 3]); // column 5 is column 3 again
  assert.equal(padded.trueDepth.valid[5], 0);
});

test("drawn planes keep their order and every plane is drawn equally often", () => {
  const sample = randomSample({ planes: 6 });
  const counts = new Array<number>(6).fill(0);
  for (let seed = 0; seed < 600; seed++) {
    const { focusDistances, images } = drawPlanes(sample, 3, createRandom(seed)).stack;
    checkFocusDistances(focusDistances, "depth");
    for (const [n, distance] of focusDistances.entries()) {
      counts[distance - 1] = (counts[distance - 1] ?? 0) + 1;
      assert.equal(images[n], sample.stack.images[distance - 1]);
    }
  }
  for (const count of counts) assert.ok(Math.abs(count - 300) < 60, String(counts));
  assert.throws(() => drawPlanes(sample, 7, createRandom(0)), /cannot draw 7 planes of 6 \(random\)/);
});

test("colour and gamma by hand: 0.25 with exponent 0.5 and gain 1.2 is 0.6; white stays within 1", () => {
  const picture = grey(2, [0.25, 1]);
  assertClose(adjustImage(picture, { gains: [1, 1.2, 1], exponent: 0.5, noise: 0 }, createRandom(0)).data, [0.6, 1], 1e-4);
});

test("noise has the deviation asked for and no bias", () => {
  const flat = grey(100, new Array<number>(10000).fill(0.5));
  const { data } = adjustImage(flat, { gains: [1, 1, 1], exponent: 1, noise: 0.05 }, createRandom(4));
  const mean = data.reduce((sum, v) => sum + v, 0) / 1e4;
  const deviation = Math.sqrt(data.reduce((sum, v) => sum + (v - mean) ** 2, 0) / 1e4);
  assert.ok(Math.abs(mean - 0.5) < 0.002 && Math.abs(deviation - 0.05) < 0.002, `${mean} ${deviation}`);
});

test("a shift by one pixel moves the picture one pixel; scale and turn leave the middle in place", () => {
  const still = { across: 0, down: 0, scale: 1, turn: 0 };
  const picture = grey(3, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual([...warpImage(picture, { ...still, across: 1 }).data], [2, 1, 2, 5, 4, 5, 8, 7, 8]);
  assertClose(warpImage(picture, { ...still, turn: Math.PI / 2 }).data, [7, 4, 1, 8, 5, 2, 9, 6, 3], 1e-6);
  assertClose(
    [warpImage(picture, { ...still, scale: 2 }).data[4] as number, warpImage(picture, { ...still, scale: 2 }).data[5] as number],
    [5, 5.5],
    1e-6,
  );
});

test("everything together: one seed, one result; the size and the order hold; options left out leave the sample alone", () => {
  const sample = randomSample({ width: 20, height: 16, planes: 6 });
  assert.equal(augment(sample, {}, createRandom(1)), sample);
  const options = {
    crop: 8,
    validShare: 0.8,
    planes: 4,
    flip: true,
    transpose: true,
    mirrorPlanes: true,
    colour: 0.1,
    gamma: 1.4,
    exposure: 0.1,
    noise: 0.02,
    misalignment: { shift: 0.6, scale: 0.002, turn: 0.002 },
    focusRangeOnly: true,
  };
  for (let seed = 0; seed < 20; seed++) {
    const one = augment(sample, options, createRandom(seed));
    assert.deepEqual(augment(sample, options, createRandom(seed)), one);
    assert.deepEqual([one.trueDepth.width, one.trueDepth.height, one.stack.images.length], [8, 8, 4]);
    checkFocusDistances(one.stack.focusDistances, "depth");
    for (const { data } of one.stack.images) assert.ok(data.every((v) => v >= 0 && v <= 1));
  }
  assert.notDeepEqual(augment(sample, options, createRandom(1)), augment(sample, options, createRandom(2)));
  assert.throws(() => augment(sample, { crop: 17 }, createRandom(0)), /a crop of 17 does not fit 20×16/);
});

test("what one option draws does not move another's numbers", () => {
  const sample = randomSample({ width: 20, height: 16 });
  const cropped = augment(sample, { crop: 8 }, createRandom(5));
  const also = augment(sample, { crop: 8, planes: 4, exposure: 0 }, createRandom(5));
  assert.deepEqual(also.trueDepth, cropped.trueDepth);
});

test("a crop looks for enough valid pixels", () => {
  const base = randomSample({ width: 40, height: 8 });
  const valid = base.trueDepth.valid.map((_, i) => (i % 40 < 20 ? 1 : 0));
  const sample = { ...base, trueDepth: { ...base.trueDepth, valid } };
  for (let seed = 0; seed < 10; seed++) {
    const { trueDepth } = augment(sample, { crop: 8, validShare: 0.8 }, createRandom(seed));
    assert.ok(trueDepth.valid.reduce((sum, v) => sum + v, 0) >= 0.8 * 64);
  }
});
