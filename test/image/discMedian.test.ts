import assert from "node:assert/strict";
import { test } from "node:test";

import { discMedians } from "../../src/image/discMedian.ts";
import { createRandom } from "../../src/random.ts";

test("the median of a pixel and its four neighbours, with those that the map has at a corner", () => {
  const values = Float32Array.of(9, 1, 7, 4, 5, 3, 8, 2, 6);
  const map = { width: 3, height: 3, values };
  assert.deepEqual(discMedians(map, [4], 1), Float32Array.of(3)); // of 1, 2, 3, 4, 5
  assert.deepEqual(discMedians(map, [0, 8], 1), Float32Array.of(4, 3)); // of 1, 4, 9 and of 2, 3, 6
  assert.deepEqual(discMedians(map, [1], 1), Float32Array.of(7)); // of 1, 5, 7, 9: the greater in the middle
  assert.deepEqual(discMedians(map, [0, 5, 8], 0.99), Float32Array.of(9, 3, 6)); // of themselves
});

test("it is what sorting everything within the radius gives, anywhere in the map and for any radius", () => {
  const random = createRandom(5);
  const [width, height] = [9, 6];
  const values = Float32Array.from({ length: width * height }, () => random.uniform());
  const pixels = Array.from(values.keys());
  for (const radius of [1, 1.5, 2, 2.9, 20]) {
    const expected = values.map((_, i) => {
      const within = values.filter(
        (_, j) => Math.hypot((j % width) - (i % width), Math.floor(j / width) - Math.floor(i / width)) <= radius,
      );
      return within.sort()[within.length >> 1] as number;
    });
    assert.deepEqual(discMedians({ width, height, values }, pixels, radius), expected, `radius ${radius}`);
  }
});
