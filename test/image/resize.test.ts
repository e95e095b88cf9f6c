import assert from "node:assert/strict";
import { test } from "node:test";
import { resize } from "../../src/image/resize.ts";
import { assertClose } from "../helpers/close.ts";

const ramp = { width: 6, height: 1, channels: 1, data: Float32Array.of(0, 1, 2, 3, 4, 5) };

test("halving with the linear filter weighs four neighbours 1 3 3 1, cut at the border", () => {
  const { data } = resize(ramp, { width: 3, height: 1, filter: "linear" });
  assertClose(data, [(3 * 0 + 3 * 1 + 1 * 2) / 7, (1 + 3 * 2 + 3 * 3 + 4) / 8, (3 + 3 * 4 + 3 * 5) / 7], 1e-6);
});

test("doubling with the linear filter is plain linear interpolation", () => {
  const two = { width: 2, height: 1, channels: 1, data: Float32Array.of(0, 4) };
  assertClose(resize(two, { width: 4, height: 1, filter: "linear" }).data, [0, 1, 3, 4], 1e-6);
});

test("a constant stays constant and the same size changes nothing, per channel", () => {
  const data = Float32Array.from({ length: 7 * 5 * 3 }, (_, i) => (i % 3) + 1);
  for (const filter of ["linear", "lanczos"] as const) {
    const small = resize({ width: 7, height: 5, channels: 3, data }, { width: 3, height: 4, filter });
    assertClose(
      small.data,
      Float32Array.from({ length: 36 }, (_, i) => (i % 3) + 1),
      1e-6,
    );
    assert.deepEqual(resize({ width: 7, height: 5, channels: 3, data }, { width: 7, height: 5, filter }).data, data);
  }
});
