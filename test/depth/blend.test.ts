import assert from "node:assert/strict";
import { test } from "node:test";
import { imageRows } from "../../src/image/rows.ts";
import type { Image } from "../../src/image/image.ts";
import { blendPlanes, createBlender } from "../../src/depth/blend.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const grey = (width: number, height: number, ...data: number[]): Image => ({ width, height, channels: 1, data: Float32Array.from(data) });

test("a pixel is Σ p² I / Σ p²: 0.8 and 0.6 of white and black give 0.64", () => {
  const probability = { planes: 2, width: 1, height: 1, values: Float32Array.from([0.8, 0.6]) };
  assertClose(blendPlanes([grey(1, 1, 1), grey(1, 1, 0)], probability).data, [0.64]);
});

test("a map of two pixels is bilinear in a picture of four: p is 1, 0.75, 0.25, 0", () => {
  const probability = { planes: 2, width: 2, height: 1, values: Float32Array.from([1, 0, 0, 1]) };
  const blender = createBlender({ width: 4, height: 1, channels: 1 }, probability);
  blender.add(imageRows(grey(4, 1, 1, 1, 1, 1)), 0);
  blender.add(imageRows(grey(4, 1, 0, 0, 0, 0)), 1);
  assertClose(blender.finish().data, [1, 0.9, 0.1, 0]); // 0.75² / (0.75² + 0.25²) = 0.9
});

test("planes that are alike come out as they are, in colour and in any size", () => {
  const random = createRandom(5);
  const image: Image = { width: 7, height: 5, channels: 3, data: Float32Array.from({ length: 105 }, () => random.uniform()) };
  const values = Float32Array.from({ length: 3 * 6 }, () => random.uniform());
  const blender = createBlender(image, { planes: 3, width: 2, height: 3, values });
  for (const plane of [0, 1, 2]) blender.add(imageRows(image), plane);
  assertClose(blender.finish().data, image.data);
});

test("a plane is asked only for the stretch of a row in which its p counts", () => {
  const probability = { planes: 2, width: 5, height: 1, values: Float32Array.from([1, 1, 1, 0, 0, 0, 0.05, 1, 1, 1]) };
  const blender = createBlender({ width: 10, height: 1, channels: 1 }, probability);
  const asked: string[] = [];
  for (const plane of [0, 1])
    blender.add((_, { from, to }) => {
      asked.push(`${plane}: ${from} to ${to}`);
      return new Float32Array(10).fill(plane);
    }, plane);
  // Pixels lie at -0.25 + x/2 of the map's; plane 0 counts up to the third of these (x = 7 is next to the fourth), plane 1 from the third.
  assert.deepEqual(asked, ["0: 0 to 7", "1: 3 to 10"]);
  const { data } = blender.finish();
  assert.deepEqual([...data.subarray(0, 3), ...data.subarray(7)], [0, 0, 0, 1, 1, 1]);
});
