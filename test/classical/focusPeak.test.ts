import assert from "node:assert/strict";
import test from "node:test";
import { focusPeak } from "../../src/classical/focusPeak.ts";
import { assertClose } from "../helpers/close.ts";

const curve = (...values: number[]): { planes: number; width: number; height: number; values: Float32Array } => ({
  planes: values.length,
  width: 1,
  height: 1,
  values: Float32Array.from(values),
});

test("the parabola through 6, 8, 4 peaks at 1 - 1/6 planes, between its focus distances", () => {
  const stack = { focusDistances: [1, 2, 4], space: "depth", fit: "parabola" } as const;
  assertClose(focusPeak(curve(6, 8, 4), stack).depth.values, [2 - 1 / 6]);
  assertClose(focusPeak(curve(4, 8, 6), stack).depth.values, [2 + 2 / 6]); // the planes behind are 2 m apart
});

test("a Gaussian curve of sharpness is found exactly by the Gaussian fit", () => {
  const centre = 2.3;
  const values = [0, 1, 2, 3, 4].map((n) => Math.exp(-((n - centre) ** 2) / 1.7));
  const stack = { focusDistances: [10, 20, 30, 40, 50], space: "depth" } as const;
  assertClose(focusPeak(curve(...values), stack).depth.values, [33], 1e-5);
});

test("a peak on the first or last plane stays there, also in disparity", () => {
  assertClose(focusPeak(curve(9, 4, 1), { focusDistances: [1, 2, 3], space: "depth" }).depth.values, [1]);
  const far = focusPeak(curve(1, 4, 9), { focusDistances: [0.3, 0.2, 0.1], space: "disparity" }).depth;
  assertClose(far.values, [0.1]);
  assert.equal(far.space, "disparity");
});

test("confidence is 0 where planes look alike and one minus the others' share at a clear peak", () => {
  const stack = { focusDistances: [1, 2, 3], space: "depth" } as const;
  assert.equal(focusPeak(curve(2, 2, 2), stack).confidence[0], 0);
  assert.equal(focusPeak(curve(0, 0, 0), stack).confidence[0], 0);
  assertClose(focusPeak(curve(1, 8, 3), stack).confidence, [1 - 4 / 16]);
});

test("a volume with another number of planes than distances is an error", () => {
  assert.throws(
    () => focusPeak(curve(1, 2), { focusDistances: [1, 2, 3], space: "depth" }),
    /3 focus distances need \[3, 1, 1\], got 2 values/,
  );
});
