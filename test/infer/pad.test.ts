import assert from "node:assert/strict";
import { test } from "node:test";

import { cropFrom, mirrored, paddedSize, padInto } from "../../src/infer/pad.ts";

test("sizes grow to the next multiple of 32 and stay where they are one", () => {
  assert.deepEqual(paddedSize({ width: 1, height: 32 }), { width: 32, height: 32 });
  assert.deepEqual(paddedSize({ width: 33, height: 640 }), { width: 64, height: 640 });
});

test("what lies beyond an edge is the mirror image without the edge itself", () => {
  assert.deepEqual(
    Array.from({ length: 9 }, (_, i) => mirrored(i, 3)),
    [0, 1, 2, 1, 0, 1, 2, 1, 0],
  );
  assert.deepEqual([mirrored(0, 1), mirrored(7, 1), mirrored(-1, 4)], [0, 0, 1]);
});

test("padding mirrors to the right and below, and cropping takes it back", () => {
  const source = Float32Array.of(1, 2, 3, 4, 5, 6);
  const [from, to] = [{ width: 3, height: 2 }, { width: 5, height: 4 }]; // prettier-ignore
  const padded = new Float32Array(20);
  padInto(padded, source, { from, to });
  assert.deepEqual([...padded], [1, 2, 3, 2, 1, 4, 5, 6, 5, 4, 1, 2, 3, 2, 1, 4, 5, 6, 5, 4]);
  assert.deepEqual(cropFrom(padded, { from: to, to: from }), source);
});
