import assert from "node:assert/strict";
import { test } from "node:test";

import { ShapeError } from "../../src/engine/errors.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { augmentFocusVolume, dfvDifferences } from "../../src/model/focusVolume.ts";

const engine = createTorchEngine();
const ramp = engine.constant([1, 2, 3, 4], { shape: [1, 1, 4, 1, 1] });

test("V* of the ramp V_n = n is the ramp and a difference of +1 on every plane, the last included", () => {
  const volume = augmentFocusVolume(ramp);
  assert.deepEqual(volume.shape, [1, 2, 4, 1, 1]);
  assert.deepEqual([...engine.read(volume)], [1, 2, 3, 4, 1, 1, 1, 1]);
});

test("the last plane's difference is V_N − V_{N−1}", () => {
  const volume = engine.constant([0, 1, 4, 9], { shape: [1, 1, 4, 1, 1] });
  assert.deepEqual([...engine.read(augmentFocusVolume(volume))].slice(4), [1, 3, 5, 5]);
});

test("two planes are enough", () => {
  const volume = engine.constant([3, 10], { shape: [1, 1, 2, 1, 1] });
  assert.deepEqual([...engine.read(augmentFocusVolume(volume))], [3, 10, 7, 7]);
});

test("DFV's differences replace V, have the other sign, and end with V_N itself", () => {
  const volume = dfvDifferences(ramp);
  assert.deepEqual(volume.shape, [1, 1, 4, 1, 1]);
  assert.deepEqual([...engine.read(volume)], [-1, -1, -1, 4]);
});

test("a volume of another rank is refused with both shapes", () => {
  assert.throws(
    () => augmentFocusVolume(engine.full([2, 3, 4], 0)),
    (error) => error instanceof ShapeError && error.message.includes("[B, C, N, h, w], got [2, 3, 4]"),
  );
});
