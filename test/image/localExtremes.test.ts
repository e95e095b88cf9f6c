import assert from "node:assert/strict";
import { test } from "node:test";

import { localMaximum, localMinimum, localRange } from "../../src/image/localExtremes.ts";
import { createRandom } from "../../src/random.ts";

test("the greatest, the least and the range of the pixels around are what comparing them all gives, at borders too", () => {
  const random = createRandom(4);
  const [width, height] = [7, 5];
  const values = Float32Array.from({ length: width * height }, () => random.uniform());
  for (const radius of [1, 2, 9]) {
    const near = (i: number): Float32Array => {
      const [x, y] = [i % width, Math.floor(i / width)];
      return values.filter((_, j) => Math.abs((j % width) - x) <= radius && Math.abs(Math.floor(j / width) - y) <= radius);
    };
    const least = values.map((_, i) => Math.min(...near(i)));
    assert.deepEqual(localMinimum({ width, height, values }, radius), least);
    const greatest = values.map((_, i) => Math.max(...near(i)));
    assert.deepEqual(localMaximum({ width, height, values }, radius), greatest);
    const ranges = greatest.map((value, i) => value - (least[i] as number));
    assert.deepEqual(localRange({ width, height, values }, radius), ranges);
  }
});
