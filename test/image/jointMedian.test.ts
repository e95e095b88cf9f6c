import assert from "node:assert/strict";
import { test } from "node:test";

import type { Image } from "../../src/image/image.ts";
import { jointMedian, type MedianOptions, type MedianSource } from "../../src/image/jointMedian.ts";
import { createRandom } from "../../src/random.ts";

test("the median weighs likeness of colour, distance and trust", () => {
  const map = { width: 3, height: 1, values: Float32Array.of(5, 1, 3) };
  const colours: Image = { width: 3, height: 1, channels: 1, data: Float32Array.of(0, 0, 1) };
  const options = { radius: 1, reach: 1, likeness: 1 };
  const middle = jointMedian({ map, colours }, options)(1, 0);
  // Black: 1/2σ² = 3 / 2, weights e^−½, 1 and e^−2, in the order of the values 1, 0.14 and 0.61: half of 1.74 is reached by the first.
  assert.equal(middle(1, 0, Float32Array.of(0), 0), 1);
  // White: 1/2σ² = 3 / 4, weights e^−1.25, e^−0.75 and e^−½; in the order of the values 0.47, 0.61 and 0.29: half of 1.37 is reached by the second.
  assert.equal(middle(1, 0, Float32Array.of(1), 0), 3);
  // White, three quarters of a pixel to the left: 0.35, 0.21 and 0.46, as the distances are ¼, ¾ and 1¾.
  assert.equal(middle(0.25, 0, Float32Array.of(0.5, 1), 1), 3);
  const trusted = jointMedian({ map, colours, weights: Float32Array.of(10, 1, 1) }, options)(1, 0);
  assert.equal(trusted(1, 0, Float32Array.of(1), 0), 5);
});

/** The definition, one pixel at a time. */
function plainMedian(
  { map, colours, weights }: MedianSource,
  { radius, reach, likeness }: MedianOptions,
  [column, row]: readonly [number, number],
) {
  return (x: number, y: number, asked: readonly number[]): number => {
    const near = [...map.values.keys()]
      .map((j) => ({ j, u: j % map.width, v: Math.floor(j / map.width) }))
      .filter(({ u, v }) => Math.abs(u - column) <= radius && Math.abs(v - row) <= radius)
      .map(({ j, u, v }) => ({
        value: map.values[j] as number,
        trust: weights?.[j] ?? 1,
        square: asked.reduce((sum, each, c) => sum + ((colours.data[j * colours.channels + c] as number) - each) ** 2, 0),
        distance: (u - x) ** 2 + (v - y) ** 2,
      }));
    const variance = likeness ** 2 * (near.reduce((sum, { square }) => sum + square, 0) / near.length);
    const weighed = near
      .map(({ value, trust, square, distance }) => ({
        value,
        weight: trust * Math.exp(-square / (2 * variance)) * Math.exp(-distance / (2 * reach ** 2)),
      }))
      .sort((a, b) => a.value - b.value);
    const half = weighed.reduce((sum, { weight }) => sum + weight, 0) / 2;
    let reached = 0;
    return weighed.find(({ weight }) => (reached += weight) >= half)?.value as number;
  };
}

test("every window, at borders too, gives what the definition gives", () => {
  const random = createRandom(7);
  const [width, height] = [9, 6];
  const drawn = (count: number): Float32Array => Float32Array.from({ length: count }, () => random.uniform());
  const map = { width, height, values: drawn(width * height) };
  const colours: Image = { width, height, channels: 3, data: drawn(3 * width * height) };
  const options = { radius: 2, reach: 1.5, likeness: 0.6 };
  for (const weights of [undefined, drawn(width * height)]) {
    const source = { map, colours, ...(weights ? { weights } : {}) };
    const windowAt = jointMedian(source, options);
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column++) {
        const [median, plain] = [windowAt(column, row), plainMedian(source, options, [column, row])];
        for (let k = 0; k < 3; k++) {
          const [x, y, asked] = [column + random.uniform() - 0.5, row + random.uniform() - 0.5, drawn(3)];
          assert.equal(median(x, y, asked, 0), plain(x, y, [...asked]), `${column}, ${row}`);
        }
      }
  }
});

test("on a picture of one colour the median is that of distance and trust, and untrusted values do not count", () => {
  const map = { width: 5, height: 1, values: Float32Array.of(9, 9, 1, 2, 9) };
  const colours: Image = { width: 5, height: 1, channels: 1, data: new Float32Array(5).fill(0.5) };
  const weights = Float32Array.of(0, 0, 1, 1, 0);
  const median = jointMedian({ map, colours, weights }, { radius: 2, reach: 1, likeness: 0.5 })(2, 0);
  assert.equal(median(2, 0, colours.data, 0), 1);
  assert.equal(median(2.6, 0, colours.data, 0), 2);
  const untrusted = jointMedian({ map, colours, weights: new Float32Array(5) }, { radius: 2, reach: 1, likeness: 0.5 })(2, 0);
  assert.equal(untrusted(2, 0, colours.data, 0), 1, "the least value, as nothing counts");
});
