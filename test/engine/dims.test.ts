import assert from "node:assert/strict";
import { test } from "node:test";
import { concrete, dims, formatDim, formatShape, over, plus, sameDim, sumDims, symbol, times, type Dim } from "../../src/engine/dims.ts";
import { ShapeError } from "../../src/engine/errors.ts";

const [B, N, H] = [symbol("B"), symbol("N"), symbol("H")];

test("sizes compute as their formula says", () => {
  const cases: [Dim, string][] = [
    [times(B, N), "B·N"],
    [times(N, B), "B·N"],
    [times(times(3, N), B), "3·B·N"],
    [over(H, 4), "H/4"],
    [times(over(H, 4), 2), "H/2"],
    [times(over(H, 4), 4), "H"],
    [over(times(H, 6), 4), "3·H/2"],
    [plus(N, -1), "N-1"],
    [plus(plus(N, -1), 1), "N"],
    [plus(over(H, 2), 3), "H/2+3"],
    [sumDims(N, N), "2·N"],
    [sumDims(sumDims(N, N), N), "3·N"],
    [sumDims(over(H, 4), over(H, 4)), "H/2"],
    [sumDims(plus(N, -1), 1), "N"],
    [sumDims(plus(N, -1), plus(N, -1)), "2·N-2"],
    [sumDims(2, 3), "5"],
    [times(4, 5), "20"],
    [over(12, 4), "3"],
  ];
  for (const [dim, expected] of cases) assert.equal(formatDim(dim), expected);
});

test("sizes that differ by how they were reached are the same", () => {
  assert.ok(sameDim(over(times(H, 2), 4), over(H, 2)));
  assert.ok(sameDim(plus(times(N, 1), 0), N));
  assert.ok(!sameDim(N, plus(N, -1)));
  assert.ok(!sameDim(N, 5));
});

test("a size without a formula of this kind is an error", () => {
  assert.throws(() => over(10, 4), /10 is not a multiple of 4/);
  assert.throws(() => times(plus(N, -1), B), /N-1 has an offset/);
  assert.throws(() => times(B, plus(N, -1)), /N-1 has an offset/);
  assert.throws(() => over(plus(N, -1), 2), /N-1 has an offset/);
  assert.throws(() => sumDims(N, H), /cannot add the sizes N and H/);
  assert.throws(() => concrete(H, "solve"), /solve: needs a size known in advance, got H/);
  assert.equal(concrete(7, "solve"), 7);
});

test("dims checks a shape by name and hands back the sizes", () => {
  const volume = { shape: [B, 32, N, over(H, 4), over(H, 4)] };
  const { C, n, h } = dims(volume, "b C n h h", "volume");
  assert.equal(C, 32);
  assert.ok(sameDim(n, N));
  assert.ok(sameDim(h, over(H, 4)));
  assert.deepEqual(dims({ shape: [2, 3] }, "a 3", "pair"), { a: 2 });
});

test("a shape that does not fit is told with both shapes", () => {
  const fails = (shape: readonly Dim[], pattern: string, message: RegExp): void => {
    assert.throws(
      () => dims({ shape }, pattern, "surface"),
      (error: unknown) => error instanceof ShapeError && message.test(error.message),
    );
  };
  fails([2, 3], "B C h w", /surface: expected \[B, C, h, w\], got \[2, 3\]/);
  fails([2, 4], "B 3", /expected \[B, 3\], got \[2, 4\]/);
  fails([2, 3], "n n", /expected \[n, n\], got \[2, 3\]/);
  fails([N, plus(N, -1)], "n n", /got \[N, N-1\]/);
  assert.equal(formatShape([1, over(H, 8)]), "[1, H/8]");
});
