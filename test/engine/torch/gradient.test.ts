import assert from "node:assert/strict";
import test from "node:test";

import type { Tensor } from "../../../src/engine/engine.ts";
import { EngineError } from "../../../src/engine/errors.ts";
import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine } from "../../../src/engine/torch/torchEngine.ts";
import { noBf16 } from "../../helpers/bf16.ts";

const engine = createTorchEngine({ threads: 1 });
const values = (tensor: Tensor): number[] => Array.from(engine.read(tensor) as ArrayLike<number>, Number);
const vector = (...numbers: number[]) => engine.constant(numbers, { shape: [numbers.length] });
const grid = (rows: number[][]) => engine.constant(rows.flat(), { shape: [rows.length, rows[0]?.length ?? 0] });

test("gradients accumulate, can be replaced and dropped", () => {
  const x = engine.requireGradient(vector(1, 2));
  engine.backward(x.square().sum());
  engine.backward(x.square(), vector(1, 10));
  const gradient = engine.gradient(x);
  assert.deepEqual(gradient && values(gradient), [4, 44]);
  engine.setGradient(x, vector(7, 8));
  const replaced = engine.gradient(x);
  assert.deepEqual(replaced && values(replaced), [7, 8]);
  engine.setGradient(x);
  assert.equal(engine.gradient(x), undefined);
  assert.throws(() => {
    engine.setGradient(x, vector(1));
  }, /setGrad\(\[2\], \[1\]\)/);
});

test("no gradient is recorded inside noGradient, and the mode ends with a throw", () => {
  const x = engine.requireGradient(vector(1, 2));
  const requires = (tensor: Tensor) => engine.native("requiresGrad", tensor);
  assert.equal(
    engine.noGradient(() => requires(x.add(1))),
    false,
  );
  assert.throws(() => engine.noGradient(() => x.add(vector(1, 2, 3))), EngineError);
  assert.equal(requires(x.add(1)), true);
  assert.throws(() => engine.noGradient(() => Promise.resolve()), /noGradient: the body is async/);
});

test("the mode of gradients is that of all engines", () => {
  const other = createTorchEngine({ threads: 1, trainingKernels: true });
  const x = other.requireGradient(other.full([1, 1, 4, 4], 1));
  const resized = engine.noGradient(() => x.resize2d([8, 8], "bilinear")); // deferred: computed below
  assert.equal(other.native("requiresGrad", resized), false);
  assert.deepEqual(
    engine.noGradient(() => other.modes()),
    { gradients: false, autocast: false },
  );
  assert.equal(other.native("requiresGrad", x.resize2d([8, 8], "bilinear")), true);
});

test("autocast multiplies in bf16, fullPrecision inside it does not, and weights are cast afresh each time", () => {
  const a = engine.requireGradient(grid([[1 + 2 ** -10]]));
  engine.autocast(() => {
    assert.equal(a.matmul(a).dtype, "bf16");
    assert.equal(values(a.matmul(a).cast("f32"))[0], 1);
    assert.equal(engine.fullPrecision(() => a.matmul(a)).dtype, "f32");
    assert.equal(a.matmul(a).dtype, "bf16");
  });
  assert.equal(a.matmul(a).dtype, "f32");
  engine.copy(a, grid([[3]]));
  assert.equal(values(engine.autocast(() => a.matmul(a).cast("f32")))[0], 9);
});

test("a bf16 training step on the CPU runs through every normalisation", { skip: noBf16 }, () => {
  scope(() => {
    const weight = engine.requireGradient(engine.full([4, 2, 3, 3], 0.1));
    const x = engine.range(2 * 2 * 5 * 5).reshape([2, 2, 5, 5]);
    const [one, zero] = [engine.full([4], 1), engine.full([4], 0)];
    const batch = { weight: one, bias: zero, runningMean: zero, runningVariance: one, training: true, momentum: 0.1, epsilon: 1e-5 };
    const loss = engine.autocast(() =>
      x.conv2d(weight, { padding: 1 }).batchNorm(batch).groupNorm({ groups: 2, weight: one, bias: zero, epsilon: 1e-5 }).square().mean(),
    );
    engine.backward(loss);
    assert.equal(engine.gradient(weight)?.dtype, "f32");
  });
});
