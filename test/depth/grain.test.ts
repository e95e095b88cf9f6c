import assert from "node:assert/strict";
import { test } from "node:test";

import { withoutGrain } from "../../src/depth/grain.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const [WIDTH, HEIGHT] = [24, 16];
type At = (x: number, y: number) => number;
const across = (at: At): Float32Array => Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) => at(i % WIDTH, Math.floor(i / WIDTH)));
const smoothed = (depth: At, error: number): Float32Array =>
  withoutGrain({
    depth: depthMap({ width: WIDTH, height: HEIGHT, values: across(depth), space: "index" }),
    error: across(() => error),
  }).values;

test("grain as large as a tenth of the expected error is halved, a step of a hundred times that stays", () => {
  const columns: At = (x) => 2 + (x % 2 === 0 ? 0.01 : -0.01);
  const values = smoothed(columns, 0.1);
  const inside = values.filter((_, i) => i % WIDTH > 5 && i % WIDTH < WIDTH - 6);
  // Over 7 columns the mean is 0.01 / 7 off 2, so that d − m is 6/7 or 8/7 of 0.01; v, close to σ² = 0.01², halves it.
  for (const value of inside) assert.ok(Math.abs(Math.abs(value - 2) - 0.005) < 0.001, String(value));
  const step: At = (x) => (x < 12 ? 2 : 3);
  assertClose(smoothed(step, 0.1), across(step), 0.001);
});

test("slopes stay away from the borders, and without an expected error everything stays to the bit", () => {
  const slope: At = (x, y) => 1 + 0.001 * x + 0.002 * y;
  const values = smoothed(slope, 1);
  for (let y = 6; y < HEIGHT - 6; y++)
    for (let x = 6; x < WIDTH - 6; x++) assert.ok(Math.abs((values[y * WIDTH + x] as number) - slope(x, y)) < 1e-6);
  const random = createRandom(3);
  const noise = across(() => random.uniform());
  const at: At = (x, y) => noise[y * WIDTH + x] as number;
  assert.deepEqual(smoothed(at, 0), noise);
  assertClose(smoothed(() => 0.3, 0.1), across(() => 0.3), 1e-6); // prettier-ignore
});

test("the more doubtful a depth is, the less its variation counts, and the mean is kept", () => {
  const random = createRandom(5);
  const noise = across(() => 3 + 0.02 * random.normal());
  const at: At = (x, y) => noise[y * WIDTH + x] as number;
  const spread = (values: Float32Array): number => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    assert.ok(Math.abs(mean - 3) < 0.005);
    return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  };
  const spreads = [0, 0.1, 0.3, 1].map((error) => spread(smoothed(at, error)));
  for (let k = 1; k < spreads.length; k++) assert.ok((spreads[k] as number) < 0.9 * (spreads[k - 1] as number), spreads.join(" "));
});
