import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tensor } from "../../../src/engine/engine.ts";
import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../../../src/engine/torch/torchEngine.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";

const plain = createTorchEngine({ threads: 2 });
const fused = createTorchEngine({ threads: 2, trainingKernels: true });

const SHAPES = { images: [2, 8, 5, 3], volumes: [2, 4, 3, 4, 5] } as const;
const ENDINGS: Readonly<Record<string, (y: Tensor, residual: Tensor) => Tensor>> = {
  "the norm alone": (y) => y,
  ReLU: (y) => y.relu(),
  LeakyReLU: (y) => y.leakyRelu(0.1),
  "a residual": (y, residual) => y.add(residual),
  "a residual and ReLU": (y, residual) => y.add(residual).relu(),
  "a residual first and LeakyReLU": (y, residual) => residual.add(y).leakyRelu(0.1),
};

interface Results {
  readonly values: Float32Array;
  readonly runningMean: Float32Array;
  readonly runningVariance: Float32Array;
  readonly gradients: readonly Float32Array[];
}

/** The result, and the gradients of a weighted sum of squares by x, weight, bias and residual; y lies in a wider tensor. */
function run(engine: TorchEngine, shape: readonly number[], ending: (y: Tensor, residual: Tensor) => Tensor): Results {
  const random = createRandom(3);
  const channels = shape[1] as number;
  const draw = (size: readonly number[], scale = 1, offset = 0): TorchTensor =>
    engine.constant(
      Float32Array.from({ length: size.reduce((a, b) => a * b) }, () => offset + scale * random.normal()),
      { shape: size },
    );
  return scope(() => {
    const inputs = [draw(shape, 2, 3), draw([channels], 0.3, 1), draw([channels]), draw(shape)] as const;
    for (const input of inputs) engine.requireGradient(input);
    const [x, weight, bias, residual] = inputs;
    const [runningMean, runningVariance] = [draw([channels]), draw([channels], 0.1, 1)];
    const norm = { weight, bias, runningMean, runningVariance, training: true, momentum: 0.1, epsilon: 1e-5 };
    const y = ending(engine.channelsLast(x).batchNorm(norm), residual);
    const wide = engine.concat([residual.mul(2), y], 1);
    const probe = draw(wide.shape);
    engine.backward(wide.square().mul(probe).sum());
    const read = (tensor: Tensor): Float32Array => engine.read(tensor) as Float32Array;
    const gradients = inputs.map((input) => read(engine.gradient(input) as Tensor));
    return { values: read(y), runningMean: read(runningMean), runningVariance: read(runningVariance), gradients };
  });
}

for (const [kind, shape] of Object.entries(SHAPES))
  for (const [name, ending] of Object.entries(ENDINGS))
    test(`batch norm of ${kind} with ${name} in one operator has libtorch's values, statistics and gradients`, () => {
      const [want, got] = [plain, fused].map((engine) => run(engine, shape, ending)) as [Results, Results];
      assertClose(got.values, want.values, 1e-5);
      assertClose(got.runningMean, want.runningMean, 1e-6);
      assertClose(got.runningVariance, want.runningVariance, 1e-5);
      want.gradients.forEach((gradient, i) => {
        assertClose(got.gradients[i] as Float32Array, gradient, 2e-4);
      });
    });

test("a mean far from zero does not cost the variance its precision", () => {
  scope(() => {
    const values = Float32Array.from({ length: 4 * 6 * 7 }, (_, i) => 1000 + ((i * 37) % 11) / 10);
    const [want, got] = [plain, fused].map((engine) => {
      const ones = (value: number): TorchTensor => engine.full([4], value);
      const norm = { weight: ones(1), bias: ones(0), runningMean: ones(0), runningVariance: ones(1), training: true, momentum: 0.1 };
      return engine.read(engine.constant(values, { shape: [1, 4, 6, 7] }).batchNorm({ ...norm, epsilon: 1e-5 })) as Float32Array;
    }) as [Float32Array, Float32Array];
    assertClose(got, want, 2e-3);
  });
});

test("bf16 is normalised in f32 and rounded once; other dtypes and channel counts are left to libtorch", () => {
  scope(() => {
    const norm = (engine: TorchEngine, channels: number, dtype: "f32" | "f64") => ({
      ...{ weight: engine.full([channels], 1.5, { dtype }), bias: engine.full([channels], 0.25, { dtype }) },
      ...{ runningMean: engine.full([channels], 0, { dtype }), runningVariance: engine.full([channels], 1, { dtype }) },
      ...{ training: true, momentum: 0.1, epsilon: 1e-5 },
    });
    const values = Float32Array.from({ length: 2 * 8 * 12 }, (_, i) => Math.sin(i));
    const halves = fused.constant(values, { shape: [2, 8, 3, 4] }).cast("bf16");
    const expected = halves
      .cast("f32")
      .batchNorm(norm(fused, 8, "f32"))
      .relu()
      .cast("bf16")
      .cast("f32");
    assert.deepEqual(
      fused.read(
        halves
          .batchNorm(norm(fused, 8, "f32"))
          .relu()
          .cast("f32"),
      ),
      fused.read(expected),
    );
    assert.equal(fused.full([1, 3, 2, 2], 1).batchNorm(norm(fused, 3, "f32")).deferred, undefined);
    assert.equal(fused.full([1, 4, 2, 2], 1, { dtype: "f64" }).batchNorm(norm(fused, 4, "f64")).deferred, undefined);
  });
});
