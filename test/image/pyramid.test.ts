import assert from "node:assert/strict";
import { test } from "node:test";

import { expandedRows, reduced } from "../../src/image/pyramid.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

test("an impulse is halved to its binomial weights: 6/16 beneath it, 1/16 beside it", () => {
  const data = Float32Array.from({ length: 9 }, (_, x) => (x === 4 ? 16 : 0));
  const { width, height, data: half } = reduced({ width: 9, height: 1, channels: 1, data });
  assert.deepEqual([width, height, ...half], [5, 1, 0, 1, 6, 1, 0]);
});

test("a row is doubled to 1/8, 6/8, 1/8 of its pixels and the mean of neighbours between them", () => {
  const rowAt = expandedRows({ width: 3, height: 1, channels: 1, data: Float32Array.of(0, 8, 0) }, { width: 5, height: 1 });
  assert.deepEqual([...rowAt(0)], [1, 4, 6, 4, 1]);
});

test("constants stay constant at odd and even sizes, in every channel", () => {
  for (const [width, height] of [
    [7, 5],
    [8, 2],
    [1, 3],
  ] as const) {
    const data = Float32Array.from({ length: width * height * 3 }, (_, i) => [0.25, 0.5, 0.75][i % 3] as number);
    const half = reduced({ width, height, channels: 3, data });
    const rowAt = expandedRows(half, { width, height });
    for (let y = 0; y < height; y++) assertClose(rowAt(y), data.subarray(0, width * 3), 1e-6);
  }
});

test("halving commutes with transposing", () => {
  const random = createRandom(3);
  const [width, height] = [7, 10];
  const data = Float32Array.from({ length: width * height }, () => random.uniform());
  const turn = (values: Float32Array, from: number, to: number): Float32Array =>
    Float32Array.from({ length: values.length }, (_, i) => values[(i % to) * from + Math.floor(i / to)] as number);
  const one = reduced({ width, height, channels: 1, data });
  const other = reduced({ width: height, height: width, channels: 1, data: turn(data, width, height) });
  assertClose(turn(other.data, other.width, other.height), one.data, 1e-6);
});
