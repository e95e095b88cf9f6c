import assert from "node:assert/strict";
import test from "node:test";
import { crop, mirrored, packImages, paddedSize } from "../../src/network/pad.ts";
import { randomSample } from "../data/files.ts";

test("sizes go up to multiples of 32, and to what the network needs at least", () => {
  assert.deepEqual(paddedSize({ width: 552, height: 383 }), { width: 576, height: 384 });
  assert.deepEqual(paddedSize({ width: 32, height: 1 }), { width: 32, height: 32 });
  assert.deepEqual(paddedSize({ width: 64, height: 5 }, { least: 64 }), { width: 64, height: 64 });
});

test("the edge is mirrored without its own pixel, as often as needed", () => {
  const from = (side: number, count: number): number[] => Array.from({ length: count }, (_, i) => mirrored(i, side));
  assert.deepEqual(from(3, 9), [0, 1, 2, 1, 0, 1, 2, 1, 0]);
  assert.deepEqual(from(1, 3), [0, 0, 0]);
});

test("cropping what was padded gives the pictures back, channel by channel", () => {
  const { stack } = randomSample({ width: 5, height: 3, planes: 2 });
  const padded = { width: 8, height: 4 };
  const packed = packImages(stack.images, padded);
  const back = crop(packed, { from: padded, to: { width: 5, height: 3 }, maps: 6 });
  const expected = stack.images.flatMap(({ data }) => [0, 1, 2].flatMap((c) => Array.from(data.filter((_, i) => i % 3 === c))));
  assert.deepEqual(Array.from(back), expected);
  assert.equal(packed[5], packed[3]); // row 0, column 5 mirrors column 3
  assert.equal(packed[3 * 8], packed[1 * 8]); // row 3 mirrors row 1
});

test("a grey picture becomes three equal channels", () => {
  const grey = { width: 2, height: 1, channels: 1 as const, data: Float32Array.of(0.25, 0.5) };
  const packed = packImages([grey], { width: 2, height: 1 });
  assert.deepEqual(Array.from(packed), [0.25, 0.5, 0.25, 0.5, 0.25, 0.5]);
});
