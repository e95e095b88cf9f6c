import assert from "node:assert/strict";
import { test } from "node:test";

import { depthMap } from "../../src/image/depthMap.ts";

const size = { width: 3, height: 1, space: "depth" } as const;

test("without a mask every finite value is known", () => {
  assert.deepEqual(depthMap({ ...size, values: Float32Array.of(1, NaN, Infinity) }).valid, Uint8Array.of(1, 0, 0));
});

test("a mask is taken as it is", () => {
  assert.deepEqual(depthMap({ ...size, values: Float32Array.of(1, 2, 3), valid: Uint8Array.of(0, 1, 1) }).valid, Uint8Array.of(0, 1, 1));
});

test("values and masks of another length are refused", () => {
  assert.throws(() => depthMap({ ...size, values: new Float32Array(4) }), /3×1 needs 3 values, got 4/);
  assert.throws(() => depthMap({ ...size, values: new Float32Array(3), valid: new Uint8Array(2) }), /3×1 needs 3 mask values, got 2/);
});
