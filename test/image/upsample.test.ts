import assert from "node:assert/strict";
import { test } from "node:test";

import { enlarge, guidedEnlarge } from "../../src/image/upsample.ts";
import { createRandom } from "../../src/random.ts";
import type { Image } from "../../src/image/image.ts";

const grey = (width: number, height: number, at: (x: number, y: number) => number): Image => ({
  width,
  height,
  channels: 1,
  data: Float32Array.from({ length: width * height }, (_, i) => at(i % width, Math.floor(i / width))),
});

test("enlarging keeps constants, and ramps away from the border", () => {
  const flat = enlarge({ width: 5, height: 4, values: new Float32Array(20).fill(7) }, { width: 13, height: 9 });
  assert.ok(flat.every((value) => value === 7));
  const ramp = enlarge({ width: 8, height: 1, values: Float32Array.from({ length: 8 }, (_, x) => x) }, { width: 16, height: 2 });
  for (let x = 1; x < 15; x++) assert.ok(Math.abs((ramp[x] as number) - ((x + 0.5) / 2 - 0.5)) < 1e-6);
});

test("guided enlarging keeps constants and moves a depth edge to the picture's edge", () => {
  const scene = (scale: number): Image => grey(24 * scale, 16 * scale, (x) => (x < 11.5 * scale ? 0.2 : 0.8));
  const [small, guide] = [scene(1), scene(4)];
  const flat = guidedEnlarge({ width: 24, height: 16, values: new Float32Array(384).fill(3) }, { small, guide });
  assert.ok(flat.every((value) => Math.abs(value - 3) < 1e-5));
  const values = Float32Array.from({ length: 384 }, (_, i) => (i % 24 < 11 ? 1 : i % 24 > 12 ? 2 : 1.5)); // a soft seam
  const grown = guidedEnlarge({ width: 24, height: 16, values }, { small, guide });
  const middle = grown.subarray(32 * 96, 33 * 96);
  assert.ok((middle[44] as number) < 1.35 && (middle[48] as number) > 1.55, `${middle[44]} ${middle[48]}`);
});

test("guided enlarging invents nothing: every value lies within those of the pixels around", () => {
  const random = createRandom(5);
  const noise = (width: number, height: number): Image => grey(width, height, () => random.uniform());
  const [small, guide] = [noise(12, 10), noise(36, 30)];
  const values = Float32Array.from({ length: 120 }, () => 1 + random.uniform());
  guidedEnlarge({ width: 12, height: 10, values }, { small, guide }).forEach((value, i) => {
    const [x, y] = [Math.floor((i % 36) / 3), Math.floor(i / 36 / 3)];
    const around: number[] = [];
    for (let row = Math.max(y - 2, 0); row <= Math.min(y + 2, 9); row++)
      for (let column = Math.max(x - 2, 0); column <= Math.min(x + 2, 11); column++) around.push(values[row * 12 + column] as number);
    assert.ok(value >= Math.min(...around) - 1e-5 && value <= Math.max(...around) + 1e-5);
  });
});
