import assert from "node:assert/strict";
import { test } from "node:test";
import { resizeNearest } from "../../src/image/nearest.ts";

test("nearest takes whole values from the pixel under each centre, smaller and larger, in the kind of numbers that it is given", () => {
  const row = { width: 6, height: 1 };
  assert.deepEqual(resizeNearest(Float32Array.of(0, 1, 2, 3, 4, 5), row, { width: 3, height: 1 }), Float32Array.of(1, 3, 5));
  const enlarged = resizeNearest(Int8Array.of(-1, 0, 1, 2), { width: 2, height: 2 }, { width: 3, height: 4 });
  assert.deepEqual(enlarged, Int8Array.of(-1, 0, 0, -1, 0, 0, 1, 2, 2, 1, 2, 2)); // the middle column's centre is where the right one begins
});
