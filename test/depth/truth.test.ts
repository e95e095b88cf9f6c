import assert from "node:assert/strict";
import { test } from "node:test";
import { depthMap } from "../../src/image/depthMap.ts";
import { compareWithTruth } from "../../src/depth/node/truth.ts";
import { assertClose } from "../helpers/close.ts";

const row = (values: readonly number[], space: "depth" | "index") =>
  depthMap({ width: values.length, height: 1, values: Float32Array.from(values), space });
const numbers = row([0, 1, 2, 3], "index");

test("metres are compared as they are: 10 % too far everywhere is an AbsRel of 0.1; unknown pixels lower the coverage alone", () => {
  const { absRel, rmse, delta1, coverage, fit } = compareWithTruth(row([1.1, 2.2, NaN, 4.4], "depth"), row([1, 2, 3, 4], "depth"), "t.npy");
  assertClose([absRel, rmse, delta1, coverage], [0.1, Math.sqrt((0.01 + 0.04 + 0.16) / 3), 1, 0.75], 1e-6);
  assert.equal(fit, undefined);
});

test("plane numbers even in metres are fitted in metres", () => {
  const { absRel, fit } = compareWithTruth(numbers, row([2, 2.5, 3, 3.5], "depth"), "t.npy");
  assert.ok(absRel < 1e-6 && fit?.of === "depth");
  assertClose([fit.scale, fit.offset], [0.5, 2], 1e-6);
});

test("plane numbers even in dioptres are fitted in dioptres, where a line in metres would be off by a tenth", () => {
  const { absRel, fit } = compareWithTruth(numbers, row([1, 1 / 0.75, 2, 4], "depth"), "t.npy");
  assert.ok(absRel < 1e-6 && fit?.of === "1/depth");
  assertClose([fit.scale, fit.offset], [-0.25, 1], 1e-6);
});

test("a line in dioptres that passes infinity loses to the one in metres", () => {
  const { absRel, fit } = compareWithTruth(row([0, 1, 2, 9], "index"), row([1, 1 / 0.6, 5, 20], "depth"), "t.npy");
  assert.ok(Number.isFinite(absRel) && fit?.of === "depth");
});

test("nothing known in both is an error that names the file", () => {
  assert.throws(() => compareWithTruth(row([NaN, 1], "depth"), row([1, NaN], "depth"), "t.npy"), /t\.npy: no pixel is known both/);
});
