import assert from "node:assert/strict";
import test from "node:test";
import { breathingSeed } from "../../src/align/links.ts";
import { placeFrames } from "../../src/align/graph.ts";
import { applyToPoint, compose, distance, IDENTITY, invert, resized, type Similarity } from "../../src/align/similarity.ts";
import { solveSymmetric } from "../../src/align/solve.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const quarterTurn: Similarity = { scale: 2, angle: Math.PI / 2, shift: [10, 0] };

function some(seed: number): Similarity {
  const random = createRandom(seed);
  return {
    scale: 1 + 0.05 * random.normal(),
    angle: 0.02 * random.normal(),
    shift: [5 * random.normal(), 5 * random.normal()],
  };
}

test("a quarter turn takes the x axis to the y axis, doubled and moved", () => {
  assertClose(applyToPoint(quarterTurn, [3, 1]), [8, 6], 1e-12);
});

test("composing applies one after the other, and a transform after its inverse does nothing", () => {
  const [one, two] = [some(1), some(2)];
  assertClose(applyToPoint(compose({ first: one, second: two }), [30, -20]), applyToPoint(two, applyToPoint(one, [30, -20])), 1e-12);
  assertClose(applyToPoint(compose({ first: one, second: invert(one) }), [30, -20]), [30, -20], 1e-12);
  assertClose(applyToPoint(resized(one, 4), [120, -80]), applyToPoint(one, [30, -20]).map((value) => 4 * value), 1e-12); // prettier-ignore
});

test("distance is the root mean square over the picture: a shift counts in full, 1 % of scale by the mean radius", () => {
  const size = { width: 300, height: 400 };
  assert.equal(distance({ ...IDENTITY, shift: [3, 4] }, IDENTITY, size), 5);
  // mean of x² + y² over 300×400 about its centre is (300² + 400²)/12
  assertClose([distance({ ...IDENTITY, scale: 1.01 }, IDENTITY, size)], [0.01 * (500 / Math.sqrt(12))], 1e-9);
});

test("closer focus enlarges the picture as the thin lens says, and without a lens nothing is assumed", () => {
  const stack = { focusDistances: [0.1, 0.2], space: "depth" } as const;
  // f = 50 mm: v = 100 mm at 0.1 m and 66.7 mm at 0.2 m
  assertClose([breathingSeed(stack, { from: 0, to: 1, focalLength: 0.05 }).scale], [2 / 3], 1e-12);
  assert.equal(breathingSeed(stack, { from: 0, to: 1, focalLength: undefined }), IDENTITY);
  assert.equal(breathingSeed({ ...stack, space: "index" }, { from: 0, to: 1, focalLength: 0.05 }), IDENTITY);
  assert.equal(breathingSeed(stack, { from: 0, to: 1, focalLength: 0.15 }), IDENTITY);
});

test("a small system is solved, a singular one refused", () => {
  assertClose(solveSymmetric([4, 2, 2, 3], [10, 8]) ?? [], [1.75, 1.5], 1e-12);
  assert.equal(solveSymmetric([1, 1, 1, 1], [1, 1]), undefined);
});

const size = { width: 300, height: 200 };
const truth = [some(3), IDENTITY, some(4), some(5)];
const edge = (from: number, to: number, error = 0.05): Parameters<typeof placeFrames>[0][number] => ({
  from,
  to,
  transform: compose({ first: invert(truth[from] as Similarity), second: truth[to] as Similarity }),
  error,
});

test("frames are placed exactly by links that agree, however they go round", () => {
  const placed = placeFrames([edge(0, 1), edge(1, 2), edge(2, 3), edge(0, 2)], { frames: 4, reference: 1, size });
  placed.forEach(({ transform }, n) => {
    assert.ok(distance(transform, truth[n] as Similarity, size) < 1e-4);
  });
  assert.equal(placed[1]?.error, 0);
  assert.ok((placed[3]?.error ?? 0) > (placed[2]?.error ?? 0), "errors grow along the chain");
});

test("one false link among true ones is overruled", () => {
  const wrong = { ...edge(1, 3), transform: { ...edge(1, 3).transform, shift: [40, 0] as [number, number] } };
  const placed = placeFrames([edge(0, 1), edge(0, 2), edge(1, 2), edge(2, 3), edge(0, 3), wrong], { frames: 4, reference: 1, size });
  placed.forEach(({ transform }, n) => {
    assert.ok(distance(transform, truth[n] as Similarity, size) < 0.05, `frame ${n}`);
  });
});

test("a frame without a link cannot be placed", () => {
  assert.throws(() => placeFrames([edge(0, 1)], { frames: 3, reference: 0, size }), /not linked/);
});
