import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tensor } from "../../src/engine/engine.ts";
import { ShapeError } from "../../src/engine/errors.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { differenceOperator } from "../../src/model/differenceOperator.ts";
import { cosineSolver, denseSolver } from "../../src/model/surface.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose, directionalError } from "../helpers/close.ts";

const engine = createTorchEngine();
const f64 = (values: ArrayLike<number>, ...shape: number[]): Tensor => engine.constant(values, { shape, dtype: "f64" });
const read = (tensor: Tensor): Float64Array => engine.read(tensor) as Float64Array;
const normals = (count: number, seed: number): Float64Array => {
  const random = createRandom(seed);
  return Float64Array.from({ length: count }, () => random.normal());
};

/** z* for Γˣ_i = sin i, Γʸ_i = cos i, row-major i. */
function golden(h: number, w: number): Float64Array {
  const field = {
    x: Float64Array.from({ length: h * w }, (_, i) => Math.sin(i)),
    y: Float64Array.from({ length: h * w }, (_, i) => Math.cos(i)),
  };
  return read(cosineSolver(engine, { h, w }, { dtype: "f64" }).solve({ x: f64(field.x, h, w), y: f64(field.y, h, w) }));
}

test("z* of a 1×3 grid is the one worked by hand: Γ = (1, 2, ·) integrates to (0, 1, 3) less its mean", () => {
  const solver = cosineSolver(engine, { h: 1, w: 3 }, { dtype: "f64" });
  const z = read(solver.solve({ x: f64([1, 2, 99], 1, 3), y: f64([7, 7, 7], 1, 3) })); // the last column and row have no neighbour
  assertClose(z, [-4 / 3, -1 / 3, 5 / 3], 1e-12);
});

test("z* has the golden values at 3×4 and 14×14", () => {
  for (const { h, w, first, last, energy } of [
    { h: 3, w: 4, first: -0.54283819, last: 0.167951312, energy: 2.73207504 },
    { h: 14, w: 14, first: -0.634789505, last: -0.674245058, energy: 47.751614437 },
  ]) {
    const z = golden(h, w);
    const squares = z.reduce((sum, value) => sum + value * value, 0);
    assertClose([z[0] as number, z.at(-1) as number, squares], [first, last, energy], 1e-9);
    assert.ok(Math.abs(z.reduce((sum, value) => sum + value, 0)) < 1e-10, "zero mean");
  }
});

test("the cosine solution is the pseudo-inverse's, to 1e-10, on any grid", () => {
  for (const [h, w] of [
    [5, 7],
    [14, 14],
    [20, 20],
  ] as const) {
    const inverse = engine.compute("aten::linalg_pinv", f64(differenceOperator(h, w), 2 * h * w, h * w), 1e-10);
    const field = normals(2 * h * w, h * 100 + w);
    const expected = read(inverse.matmul(f64(field, 2 * h * w, 1)));
    const actual = cosineSolver(engine, { h, w }, { dtype: "f64" }).solve({
      x: f64(field.subarray(0, h * w), h, w),
      y: f64(field.subarray(h * w), h, w),
    });
    assertClose(read(actual), expected, 1e-10);
  }
});

test("P·1 = 0, and that is its only null direction", () => {
  const operator = f64(differenceOperator(14, 14), 392, 196);
  assert.equal(Math.max(...read(operator.sum([1])).map(Math.abs)), 0);
  assert.equal(engine.item(engine.compute("aten::linalg_matrix_rank", operator, 1e-9)), 195);
});

test("a surface comes back from its own gradient, less its mean", () => {
  const [h, w] = [6, 9];
  const z = normals(h * w, 3);
  const mean = z.reduce((sum, value) => sum + value, 0) / z.length;
  const gradient = read(f64(differenceOperator(h, w), 2 * h * w, h * w).matmul(f64(z, h * w, 1)));
  const field = { x: f64(gradient.subarray(0, h * w), h, w), y: f64(gradient.subarray(h * w), h, w) };
  assertClose(
    read(cosineSolver(engine, { h, w }, { dtype: "f64" }).solve(field)),
    z.map((value) => value - mean),
    1e-11,
  );
});

test("a field no surface can have (Pᵀr = 0) changes nothing", () => {
  const [h, w] = [5, 6];
  const field = normals(2 * h * w, 4);
  const curl = new Float64Array(2 * h * w); // around the cell at row 2, column 3: right, down, left, up
  curl[2 * w + 3] = 1;
  curl[h * w + 2 * w + 4] = 1;
  curl[3 * w + 3] = -1;
  curl[h * w + 2 * w + 3] = -1;
  const back = read(
    f64(differenceOperator(h, w), 2 * h * w, h * w)
      .permute([1, 0])
      .matmul(f64(curl, 2 * h * w, 1)),
  );
  assert.equal(Math.max(...back.map(Math.abs)), 0, "the field is curl alone");
  const solver = cosineSolver(engine, { h, w }, { dtype: "f64" });
  const solve = (values: Float64Array): Float64Array =>
    read(solver.solve({ x: f64(values.subarray(0, h * w), h, w), y: f64(values.subarray(h * w), h, w) }));
  assertClose(solve(field.map((value, i) => value + 5 * (curl[i] as number))), solve(field), 1e-12);
});

test("gradients through the cosine and the dense solve pass a float64 check", () => {
  const [h, w] = [4, 5];
  const solvers = { cosine: cosineSolver(engine, { h, w }, { dtype: "f64" }), dense: denseSolver(engine, { h, w }, { dtype: "f64" }) };
  const probe = f64(normals(h * w, 5), h, w);
  for (const [name, solver] of Object.entries(solvers)) {
    const loss = (x: Tensor): Tensor =>
      solver
        .solve({ x: x.slice(0, { end: h }), y: x.slice(0, { start: h }) })
        .mul(probe)
        .square()
        .sum();
    const at = normals(2 * h * w, 6);
    const input = engine.requireGradient(f64(at, 2 * h, w));
    engine.backward(loss(input));
    const gradient = read(engine.gradient(input) as Tensor);
    const error = directionalError((x) => engine.item(loss(f64(x, 2 * h, w))), {
      at,
      direction: normals(2 * h * w, 7),
      gradient,
      step: 1e-4,
    });
    assert.ok(error < 1e-7, `${name}: ${error}`);
  }
});

test("the paper's regularised dense solve tends to the cosine solution as ε falls, up to the free constant", () => {
  const [h, w] = [6, 6];
  const field = { x: f64(normals(2 * h * w, 8), 2, h, w), y: f64(normals(2 * h * w, 9), 2, h, w) };
  const exact = read(cosineSolver(engine, { h, w }, { dtype: "f64" }).solve(field));
  const distance = (epsilon: number): number => {
    const z = read(denseSolver(engine, { h, w }, { dtype: "f64", epsilon }).solve(field));
    return Math.max(...z.map((value, i) => Math.abs(value - (exact[i] as number))));
  };
  assert.ok(distance(1e-8) < 1e-6 && distance(1e-2) > 1e-3, `${distance(1e-8)} ${distance(1e-2)}`);
});

test("equal confidence changes nothing, and no confidence in a wrong edge undoes it", () => {
  const [h, w] = [3, 4];
  const truth = Float64Array.from({ length: h * w }, (_, i) => (i % w) * 2); // slope 2 along x
  const slopes = { x: new Float64Array(h * w).fill(2), y: new Float64Array(h * w) };
  slopes.x[1] = 50;
  const field = { x: f64(slopes.x, h, w), y: f64(slopes.y, h, w) };
  const solver = denseSolver(engine, { h, w }, { dtype: "f64", epsilon: 1e-9 });
  const one = { x: f64(new Float64Array(h * w).fill(1), h, w), y: f64(new Float64Array(h * w).fill(1), h, w) };
  assertClose(read(solver.solve(field, one)), read(solver.solve(field)), 1e-9);
  const doubt = {
    x: f64(
      slopes.x.map((slope) => (slope === 50 ? 1e-6 : 1)),
      h,
      w,
    ),
    y: one.y,
  };
  assertClose(
    read(solver.solve(field, doubt)),
    truth.map((value) => value - 3),
    1e-6,
  );
});

test("a field of another size is refused with both sizes", () => {
  const solver = cosineSolver(engine, { h: 4, w: 5 });
  const field = engine.full([2, 5, 4], 1);
  assert.throws(
    () => solver.solve({ x: field, y: field }),
    (error) => error instanceof ShapeError && /4×5.*\[5, 4\]/.test(error.message),
  );
});
