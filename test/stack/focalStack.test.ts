import assert from "node:assert/strict";
import { test } from "node:test";

import type { Image } from "../../src/image/image.ts";
import { checkFocusDistances, choosePlanes, focalStack, selectPlanes, type FocalStack } from "../../src/stack/focalStack.ts";

const flat = (value: number, width = 2): Image => ({ width, height: 1, channels: 1, data: new Float32Array(width).fill(value) });
const stack = (focusDistances: readonly number[], space: FocalStack["space"] = "depth"): FocalStack => ({
  images: focusDistances.map((_, n) => flat(n / 10)),
  focusDistances,
  space,
});

test("a stack near to far is taken as it is", () => {
  assert.deepEqual(focalStack(stack([0.5, 1, 4])).focusDistances, [0.5, 1, 4]);
  focalStack(stack([0.3, 0.1, -0.2], "disparity"));
  focalStack(stack([0, 1, 2], "index"));
});

test("no plane and one plane are too few, unless one is asked for", () => {
  assert.throws(() => focalStack(stack([])), /at least 2 planes, got 0/);
  assert.throws(() => focalStack(stack([1])), /at least 2 planes, got 1/);
  assert.equal(focalStack(stack([1]), { minPlanes: 1 }).images.length, 1);
});

test("unordered, equal, negative and unknown focus distances are refused, naming the plane", () => {
  const fails = (distances: readonly number[], message: RegExp, space?: FocalStack["space"]): void => {
    assert.throws(() => focalStack(stack(distances, space)), message);
  };
  fails([1, 3, 2], /positive metres, increasing; plane 2 is 2 after 3/);
  fails([1, 2, 2], /increasing; plane 2 is 2 after 2/);
  fails([0, 1], /positive metres, increasing; plane 0 is 0/);
  fails([1, Infinity], /plane 1 is Infinity/);
  fails([1, NaN, 3], /plane 1 is NaN/);
  fails([0.1, 0.2], /finite and decreasing; plane 1 is 0\.2 after 0\.1/, "disparity");
  fails([1, 0], /finite and increasing; plane 1 is 0 after 1/, "index");
  assert.throws(() => { checkFocusDistances([2, 1], "depth"); }, /plane 1 is 1 after 2/); // prettier-ignore
});

test("another count of distances, another size and a pixel that is no number are refused", () => {
  assert.throws(() => focalStack({ ...stack([1, 2]), focusDistances: [1, 2, 3] }), /2 images but 3 focus distances/);
  assert.throws(() => focalStack({ ...stack([1, 2]), images: [flat(0), flat(0, 3)] }), /plane 1 is 3×1×1, plane 0 is 2×1×1/);
  assert.throws(() => focalStack({ ...stack([1, 2]), images: [flat(0), flat(NaN)] }), /plane 1 holds NaN at column 0, row 0/);
});

test("planes are chosen evenly, ends included, the way DFV truncates or rounded", () => {
  assert.deepEqual(choosePlanes(10, 5), [0, 2, 4, 6, 9]);
  assert.deepEqual(choosePlanes(10, 5, "round"), [0, 2, 5, 7, 9]);
  assert.deepEqual(choosePlanes(3, 3), [0, 1, 2]);
  assert.deepEqual(choosePlanes(7, 1), [0]);
  for (const count of [0, 11, 1.5]) assert.throws(() => choosePlanes(10, count), /cannot choose/);
});

test("selecting keeps the order asked for and refuses planes that are not there", () => {
  const chosen = selectPlanes(stack([1, 2, 3]), [2, 0]);
  assert.deepEqual(chosen.focusDistances, [3, 1]);
  assert.deepEqual(
    chosen.images.map(({ data }) => data[0]),
    [Math.fround(0.2), 0],
  );
  assert.throws(() => selectPlanes(stack([1, 2]), [0, 2]), /no plane 2; the stack has 2/);
});
