import assert from "node:assert/strict";
import { test } from "node:test";

import { evenDepth, evenErrors, inSpace } from "../../src/depth/evenScale.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import { assertClose } from "../helpers/close.ts";

const floats = (...values: readonly number[]): Float32Array => Float32Array.from(values);
const size = { width: 4, height: 1 };

test("metres become dioptres and their errors with them; back again they are the same metres", () => {
  const depth = depthMap({ ...size, values: floats(0.5, 2, 4, NaN), space: "depth" });
  const even = evenDepth(depth);
  assert.deepEqual(even, depthMap({ ...size, values: floats(2, 0.5, 0.25, NaN), space: "disparity" }));
  const error = evenErrors({ depth, error: floats(0.05, 0.1, 0.8, NaN) });
  assertClose(error.slice(0, 3), floats(0.2, 0.025, 0.05), 1e-7); // 0.05 / 0.5², 0.1 / 2², 0.8 / 4²
  assert.deepEqual(inSpace("depth", even), depth);
});

test("disparity, positions and plane indices are even as they are", () => {
  for (const space of ["disparity", "position", "index"] as const) {
    const depth = depthMap({ ...size, values: floats(0, -1, 2, 5), space });
    assert.deepEqual(evenDepth(depth), depth);
    assert.deepEqual(evenErrors({ depth, error: floats(1, 2, 3, 4) }), floats(1, 2, 3, 4));
    assert.deepEqual(inSpace(space, depth), depth);
  }
});
