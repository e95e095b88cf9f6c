import assert from "node:assert/strict";
import { test } from "node:test";

import { createRandom, type Random } from "../src/random.ts";

const draw = (random: Random, count: number, next: (random: Random) => number = (r) => r.uniform()): number[] =>
  Array.from({ length: count }, () => next(random));
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

test("the same seed gives the same numbers, other seeds others, and these are the first ones", () => {
  assert.deepEqual(draw(createRandom(5), 10), draw(createRandom(5), 10));
  assert.notDeepEqual(draw(createRandom(5), 3), draw(createRandom(6), 3));
  assert.deepEqual(draw(createRandom(1), 3), [0.5686059948349658, 0.8893939367683266, 0.4705824180198359]);
});

test("xoshiro128** from the state 1 2 3 4 starts with the reference's 11520 and 0", () => {
  // the reference implementation's outputs are 11520, 0, 5927040, 70819200; a uniform takes two of them: 27 and 26 bits
  const random = createRandom([1, 2, 3, 4]);
  const uniform = (a: number, b: number): number => ((a >>> 5) * 2 ** 26 + (b >>> 6)) / 2 ** 53;
  assert.deepEqual(draw(random, 2), [uniform(11520, 0), uniform(5927040, 70819200)]);
});

test("uniforms fill [0, 1) evenly, integers stay below their bound, normals have mean 0 and variance 1", () => {
  const uniforms = draw(createRandom(2), 40_000);
  assert.ok(Math.min(...uniforms.slice(0, 1e4)) >= 0 && Math.max(...uniforms.slice(0, 1e4)) < 1);
  const tenths = Array.from({ length: 10 }, (_, k) => uniforms.filter((u) => Math.floor(u * 10) === k).length);
  for (const count of tenths) assert.ok(Math.abs(count - 4000) < 300, tenths.join(" ")); // 5 standard deviations
  assert.deepEqual([...new Set(draw(createRandom(3), 200, (r) => r.integer(4)))].sort(), [0, 1, 2, 3]);
  const normals = draw(createRandom(4), 40_000, (r) => r.normal());
  assert.ok(Math.abs(mean(normals)) < 0.025);
  assert.ok(Math.abs(mean(normals.map((value) => value ** 2)) - 1) < 0.035);
});

test("splitting draws nothing, and what one part draws does not move another's numbers", () => {
  const [a, b] = [createRandom(7), createRandom(7)];
  draw(a.split("crop"), 5);
  assert.deepEqual(draw(a, 4), draw(b, 4));
  const [c, d] = [createRandom(8), createRandom(8)];
  assert.deepEqual(draw(c.split("x"), 3), draw(d.split("x"), 3));
  assert.notDeepEqual(draw(c.split("x"), 3), draw(c.split("y"), 3));
  assert.deepEqual(draw(c.split(1), 3), draw(d.split("1"), 3));
});

test("a saved state continues where it was", () => {
  const random = createRandom(9);
  draw(random, 7);
  const again = createRandom(random.state);
  assert.deepEqual(draw(random, 5), draw(again, 5));
});
