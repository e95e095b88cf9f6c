import assert from "node:assert/strict";
import { test } from "node:test";

import { focusEvidence } from "../../src/check/evidence.ts";
import { image, type Image } from "../../src/image/image.ts";
import { luminance } from "../../src/image/luminance.ts";
import { bareContrast, withBareParts } from "../../src/optics/render/bare.ts";
import { noisy } from "../../src/optics/render/noise.ts";
import { createRandom } from "../../src/random.ts";

const SIDE = 128;
const PIXELS = SIDE * SIDE;

const colour = (value: (x: number, y: number, channel: number) => number): Image => {
  const at = (i: number): number => value(Math.floor(i / 3) % SIDE, Math.floor(i / 3 / SIDE), i % 3);
  return image({ width: SIDE, height: SIDE, channels: 3, data: Float32Array.from({ length: 3 * PIXELS }, (_, i) => at(i)) });
};

/** A checkerboard of single pixels on a ramp of each channel, whose contrast is that of the plane. */
const ramp = (x: number, channel: number): number => 0.3 + (0.3 * x) / SIDE + 0.05 * channel;
const stack = [0.1, 0.3, 0.2].map((contrast) => colour((x, y, c) => ramp(x, c) + contrast * ((x + y) % 2 === 0 ? 0.5 : -0.5)));

/** 1 on the left, 0.5 in the middle and 0 on the right third. */
const CONTRASTS = [1, 0.5, 0] as const;
const thirdOf = (x: number): number => Math.floor((3 * x) / SIDE);
const thirds = Float32Array.from({ length: PIXELS }, (_, i) => CONTRASTS[thirdOf(i % SIDE)] as number);

test("contrast falls to the share given around an image that is the same in every plane, the slow part of their mean", () => {
  const bare = withBareParts(stack, thirds);
  for (const [n, { data }] of bare.entries())
    for (let i = 0; i < PIXELS; i++) {
      const [x, y] = [i % SIDE, Math.floor(i / SIDE)];
      if (x < 16 || x >= SIDE - 16) continue; // at the border the ramp ends
      for (let c = 0; c < 3; c++) {
        const detail = ((stack[n] as Image).data[3 * i + c] as number) - ramp(x, c);
        const expected = ramp(x, c) + (thirds[i] as number) * detail;
        assert.ok(Math.abs((data[3 * i + c] as number) - expected) < 2e-3, `plane ${n}, (${x}, ${y}), ${c}: ${data[3 * i + c]}`);
      }
    }
  const right = (frame: Image): number[] => Array.from(frame.data).filter((_, i) => thirds[Math.floor(i / 3)] === 0);
  assert.deepEqual(right(bare[0] as Image), right(bare[2] as Image));
  assert.deepEqual(withBareParts(stack, new Float32Array(PIXELS).fill(1)).map(({ data }) => data), stack.map(({ data }) => data)); // prettier-ignore
});

test("bare parts show no evidence of focus under the noise of each frame, other parts do", () => {
  const random = createRandom(1);
  const frames = withBareParts(stack, thirds).map((frame) => noisy(frame, { white: 0.0035, slow: 0.001 }, random));
  const evidence = focusEvidence(frames.map(luminance));
  const shareOf = (third: number, holds: (value: number) => boolean): number => {
    const own = evidence.filter((_, i) => Math.abs((i % SIDE) - (SIDE * (2 * third + 1)) / 6) < 8); // its windows do not reach the other thirds
    return own.filter(holds).length / own.length;
  };
  assert.ok(shareOf(0, (value) => value > 0.5) > 0.99);
  assert.ok(shareOf(2, (value) => value === 0) > 0.95);
});

test("a stack is bare anywhere between nothing and the whole image, in few large parts with soft edges", () => {
  const side = 192; // 3×3 nodes
  const drawn = Array.from({ length: 60 }, (_, seed) => bareContrast({ width: side, height: side }, createRandom(seed)));
  const sharesOf = (holds: (value: number) => boolean): number[] => drawn.map((contrast) => contrast.filter(holds).length / side ** 2);
  const mean = (shares: readonly number[]): number => shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const [bare, edge] = [sharesOf((value) => value === 0), sharesOf((value) => value > 0 && value < 1)];
  assert.ok(Math.min(...bare) < 0.02 && Math.max(...bare) > 0.95, `${Math.min(...bare)} to ${Math.max(...bare)}`);
  assert.ok(Math.abs(mean(bare) + mean(edge) / 2 - 0.5) < 0.1, `${mean(bare)}`); // neither side is preferred, but for half an edge
  assert.ok(mean(edge) > 0.02 && mean(edge) < 0.2, `${mean(edge)}`);
  let steepest = 0;
  for (const contrast of drawn)
    for (let i = 1; i < contrast.length; i++)
      if (i % side > 0) steepest = Math.max(steepest, Math.abs((contrast[i] as number) - (contrast[i - 1] as number)));
  assert.ok(steepest < 0.35, `${steepest}`); // 4 times the difference of two deviates, hardly above 5, within 64 pixels
});
