import assert from "node:assert/strict";
import { test } from "node:test";

import { localRange } from "../../src/image/localRange.ts";
import { createRandom } from "../../src/random.ts";

test("the range of the pixels around is what comparing them all gives, at borders too", () => {
  const random = createRandom(4);
  const [width, height] = [7, 5];
  const values = Float32Array.from({ length: width * height }, () => random.uniform());
  for (const radius of [1, 2, 9]) {
    const expected = values.map((_, i) => {
      const [x, y] = [i % width, Math.floor(i / width)];
      const near = values.filter((_value, j) => Math.abs((j % width) - x) <= radius && Math.abs(Math.floor(j / width) - y) <= radius);
      return Math.max(...near) - Math.min(...near);
    });
    assert.deepEqual(localRange({ width, height, values }, radius), expected);
  }
});
