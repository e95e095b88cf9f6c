import assert from "node:assert/strict";
import test from "node:test";
import { invalidFocusTrend } from "../../src/metrics/focusTrend.ts";

/** Curves of one pixel each, laid out as [N, 1, pixels]. */
function probability(...curves: number[][]): { planes: number; width: number; height: number; values: Float32Array } {
  const planes = (curves[0] as number[]).length;
  const values = Float32Array.from(
    { length: planes * curves.length },
    (_, i) => curves[i % curves.length]?.[Math.floor(i / curves.length)] ?? 0,
  );
  return { planes, width: curves.length, height: 1, values };
}

test("curves that fall from their peak are valid, the paper's example of a second rise is not", () => {
  const p = probability([0.1, 0.2, 0.4, 0.2, 0.1], [0.6, 0.2, 0.1, 0.06, 0.04], [0.2, 0.05, 0.1, 0.15, 0.5], [0.4, 0.2, 0.4, 0, 0]);
  assert.equal(invalidFocusTrend(p), 0.5);
});

test("equal neighbours and rounding below the tolerance do not make a curve invalid; more does", () => {
  assert.equal(invalidFocusTrend(probability([0.3, 0.3, 0.4])), 0);
  assert.equal(invalidFocusTrend(probability([0.5, 0.25, 0.25 + 5e-7])), 0);
  assert.equal(invalidFocusTrend(probability([0.5, 0.25, 0.25 + 5e-6])), 1);
});

test("only pixels of the mask count", () => {
  const p = probability([0.4, 0.2, 0.4], [0.2, 0.6, 0.2]);
  assert.equal(invalidFocusTrend(p, { valid: Uint8Array.of(0, 1) }), 0);
  assert.equal(invalidFocusTrend(p, { valid: Uint8Array.of(1, 0) }), 1);
});

test("a wrong length and an empty mask are errors", () => {
  assert.throws(() => invalidFocusTrend({ planes: 3, width: 2, height: 1, values: new Float32Array(5) }), /needs 6 values, got 5/);
  assert.throws(() => invalidFocusTrend(probability([0.5, 0.5]), { valid: Uint8Array.of(0) }), /no pixel is valid/);
});
