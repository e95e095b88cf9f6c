import assert from "node:assert/strict";

/** Compares relative to the size of `expected`; refuses a comparison whose expected values are all zero, where anything small would pass. */
export function assertClose(actual: ArrayLike<number>, expected: ArrayLike<number>, relative = 1e-5): void {
  assert.equal(actual.length, expected.length, "length");
  const scale = Array.from(expected).reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  assert.ok(scale > 0, "assertClose: expected is all zero; assert exact zeros or an absolute bound instead");
  for (let i = 0; i < expected.length; i++) {
    const [got, want] = [actual[i] as number, expected[i] as number];
    assert.ok(Math.abs(got - want) <= relative * scale, `[${i}] ${got} ≠ ${want} (scale ${scale})`);
  }
}

type Probe = { at: Float64Array; direction: Float64Array; gradient: Float64Array; step?: number };

/** |central difference − gradient·direction|, relative to the larger of the two. */
export function directionalError(f: (x: Float64Array) => number, { at, direction, gradient, step = 1e-6 }: Probe): number {
  const shifted = (t: number): number => f(at.map((value, i) => value + t * (direction[i] as number)));
  const numeric = (shifted(step) - shifted(-step)) / (2 * step);
  const analytic = direction.reduce((sum, value, i) => sum + value * (gradient[i] as number), 0);
  return Math.abs(numeric - analytic) / Math.max(Math.abs(numeric), Math.abs(analytic), 1e-12);
}
