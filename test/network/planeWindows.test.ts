import assert from "node:assert/strict";
import { test } from "node:test";

import { planeWindows, windowWeight } from "../../src/network/planeWindows.ts";

test("a stack that fits goes through in one run", () => {
  assert.deepEqual(planeWindows(3, 4), { sparse: undefined, dense: [[0, 1, 2]] });
});

test("dense windows hold every plane in order, none more than allowed, and neighbours share half", () => {
  for (let planes = 11; planes < 80; planes++) {
    const { sparse, dense } = planeWindows(planes, 10);
    assert.equal(sparse?.[0], 0);
    assert.equal(sparse.at(-1), planes - 1);
    assert.deepEqual([...new Set(dense.flat())].sort((a, b) => a - b), Array.from({ length: planes }, (_, n) => n)); // prettier-ignore
    for (const [i, window] of dense.entries()) {
      assert.equal(window.length, 10);
      const next = dense[i + 1];
      if (next) assert.ok(window.filter((plane) => next.includes(plane)).length >= 5, `${planes} planes, window ${i}`);
    }
  }
});

test("at every plane the windows' weights sum to 1 and only windows that hold it count", () => {
  const { dense } = planeWindows(24, 10);
  for (let at = 0; at <= 23; at += 0.25) {
    const weights = dense.map((_, i) => windowWeight(dense, i, at));
    assert.ok(Math.abs(weights.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-12);
    weights.forEach((weight, i) => {
      const [first, last] = [dense[i]?.[0] as number, dense[i]?.at(-1) as number];
      if (weight > 0) assert.ok(at >= first && at <= last, `window ${i} counts at ${at}`);
    });
  }
});

test("windows too short to overlap are refused", () => {
  assert.throws(() => planeWindows(20, 3), /windows of 3 planes are too short/);
});
