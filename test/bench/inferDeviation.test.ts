import assert from "node:assert/strict";
import { test } from "node:test";
import { deviation, deviationFaults, type DeviationRow } from "../../bench/inferDeviation.ts";

test("mean, ranks and the largest of distances known by hand", () => {
  const exact = Float32Array.from({ length: 1000 }, (_, i) => i);
  const depth = exact.map((value, i) => value + (i === 0 ? -0.5 : i === 1 ? 0.25 : 0));
  assert.deepEqual(deviation(depth, exact), { mean: 0.00075, p99: 0, p999: 0.5, largest: 0.5 });
  assert.ok(Number.isNaN(deviation(Float32Array.of(NaN, 1), Float32Array.of(1, 1)).largest));
});

const row = (model: string, precision: string, largest: number, trained = true): DeviationRow => ({
  model,
  trained,
  arranged: [{ precision, planesFromF32: { mean: 0, p99: 0, p999: 0, largest } }],
});

test("f16 may be a hundredth of a plane from f32 and no more, in both networks as shipped", () => {
  assert.deepEqual(deviationFaults([row("fine", "f16", 0.01), row("small", "f16", 0.0084)]), []);
  const faults = ["fine: f16 is up to 0.0101 planes from f32, more than 0.01", "small: f16 is up to NaN planes from f32, more than 0.01"];
  assert.deepEqual(deviationFaults([row("fine", "f16", 0.0101), row("small", "f16", NaN)]), faults);
  assert.deepEqual(deviationFaults([{ model: "fine", trained: true, arranged: [{ failed: "out of memory" }] }]), ["fine: out of memory"]);
});

test("bf16, DFV and weights nobody trained are not held to it", () => {
  assert.deepEqual(
    deviationFaults([row("fine", "bf16", 0.075), row("base", "f16", 0.02), row("dfv", "f16", 0.02), row("small", "f16", 1, false)]),
    [],
  );
});
