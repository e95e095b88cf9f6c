import assert from "node:assert/strict";
import { test } from "node:test";
import { growthExponent, type Point } from "../../src/bench/growth.ts";

const points = (law: (x: number) => number, xs: readonly number[], group = ""): Point[] => xs.map((x) => ({ x, seconds: law(x), group }));

test("a power law is found exactly, whatever its constant", () => {
  for (const power of [-0.5, 0, 1, 2.25]) {
    const exponent = growthExponent(points((x) => 7e-3 * x ** power, [3, 5, 10, 28]));
    assert.ok(Math.abs((exponent ?? NaN) - power) < 1e-12, `${exponent}`);
  }
});

test("groups have constants of their own: a slower network does not look like growth", () => {
  const fast = points((x) => 0.1 * x, [2, 4], "small");
  const slow = points((x) => 50 * x, [8, 16], "base");
  assert.ok(Math.abs((growthExponent([...fast, ...slow]) ?? NaN) - 1) < 1e-12);
  assert.notEqual(growthExponent([...fast, ...slow].map((point) => ({ ...point, group: "" })))?.toFixed(1), "1.0");
});

test("two points by hand: 1 s at 2, 8 s at 4 is the third power; a third point off the line is fitted by least squares", () => {
  assert.equal(growthExponent(points((x) => x ** 3 / 8, [2, 4]))?.toFixed(12), (3).toFixed(12));
  // In logarithms to base 2: x 0 1 2, time 0 1 1: slope (−1·−2/3 + 0·1/3 + 1·1/3) / 2 = 1/2
  const bent = [1, 2, 4].map((x, i) => ({ x, seconds: [1, 2, 2][i] ?? NaN, group: "" }));
  assert.equal(growthExponent(bent)?.toFixed(12), (0.5).toFixed(12));
});

test("where nothing varies there is no exponent", () => {
  assert.equal(growthExponent([]), undefined);
  assert.equal(growthExponent(points((x) => x, [5])), undefined);
  assert.equal(growthExponent([...points((x) => x, [5], "a"), ...points((x) => x, [10], "b")]), undefined);
});
