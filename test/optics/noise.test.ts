import assert from "node:assert/strict";
import { test } from "node:test";
import { image, type Image } from "../../src/image/image.ts";
import { noisy } from "../../src/optics/render/noise.ts";
import { createRandom } from "../../src/random.ts";

const SIDE = 256;
const grey = (value: number): Image =>
  image({ width: SIDE, height: SIDE, channels: 3, data: new Float32Array(3 * SIDE * SIDE).fill(value) });
const deviation = (values: readonly number[]): number => Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** How far the pixels of a channel are from 0.5, and the means of 8×8 of them. */
function deviations({ data }: Image, channel: number): { pixels: number[]; blocks: number[] } {
  const pixels = Array.from({ length: SIDE * SIDE }, (_, i) => (data[3 * i + channel] as number) - 0.5);
  const blocks = Array.from({ length: 32 * 32 }, (_, b) => {
    const first = 8 * (b % 32) + 8 * Math.floor(b / 32) * SIDE;
    return mean(Array.from({ length: 64 }, (_, k) => pixels[first + Math.floor(k / 8) * SIDE + (k % 8)] as number));
  });
  return { pixels, blocks };
}

test("slow noise survives averaging, and is the same for every channel", () => {
  const frame = noisy(grey(0.5), { white: 0, slow: 0.01 }, createRandom(1));
  const { pixels, blocks } = deviations(frame, 0);
  assert.deepEqual(deviations(frame, 2).pixels, pixels);
  // Interpolation leaves each of the two grids 2/3 of its variance along either axis: √(2 · (2/3)²) of the deviation, 0.94.
  assert.ok(Math.abs(deviation(pixels) / 0.01 - 0.94) < 0.1, `${deviation(pixels)}`);
  assert.ok(deviation(blocks) > 0.75 * deviation(pixels), `${deviation(blocks)}`);
});

test("white noise falls by a factor of 8 in the mean of 8×8 pixels, and is another for every channel", () => {
  const frame = noisy(grey(0.5), { white: 0.01, slow: 0 }, createRandom(1));
  const { pixels, blocks } = deviations(frame, 0);
  const common = mean(deviations(frame, 2).pixels.map((value, i) => value * (pixels[i] as number)));
  assert.ok(Math.abs(deviation(pixels) / 0.01 - 1) < 0.02, `${deviation(pixels)}`);
  assert.ok(Math.abs(deviation(blocks) / (0.01 / 8) - 1) < 0.1, `${deviation(blocks)}`);
  assert.ok(Math.abs(common) < 0.02 * 0.01 ** 2, `${common}`);
});

test("noise of another random state is another, and stays within what an image can hold", () => {
  const noise = { white: 0.1, slow: 0.1 };
  assert.notDeepEqual(noisy(grey(0.5), noise, createRandom(1)).data, noisy(grey(0.5), noise, createRandom(2)).data);
  for (const value of [0, 1]) assert.ok(noisy(grey(value), noise, createRandom(3)).data.every((v) => v >= 0 && v <= 1));
});
