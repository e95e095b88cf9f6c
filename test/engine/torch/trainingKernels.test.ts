import assert from "node:assert/strict";
import { mock, test } from "node:test";

import type { Tensor } from "../../../src/engine/engine.ts";
import { keep, scope } from "../../../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../../../src/engine/torch/torchEngine.ts";
import { render } from "../../../src/train/presets.ts";
import { totalLoss } from "../../../src/losses/total.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";

const plain = createTorchEngine({ threads: 2 });
const fused = createTorchEngine({ threads: 2, trainingKernels: { worthwhile: { multiplications: 1, channels: 1 } } });

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

test("a norm that is used with ReLU and without moves the running statistics once", () => {
  scope(() => {
    const [want, got] = [plain, fused].map((engine) => {
      const full = (value: number): TorchTensor => engine.full([4], value);
      const [runningMean, runningVariance] = [full(0), full(1)];
      const x = engine.constant(Float32Array.from({ length: 4 * 6 }, (_, i) => Math.sin(i)), { shape: [1, 4, 2, 3] }); // prettier-ignore
      const y = x.batchNorm({ weight: full(1), bias: full(0), runningMean, runningVariance, training: true, momentum: 0.1, epsilon: 1e-5 });
      const both = [y.relu(), y].map((each) => engine.read(each) as Float32Array);
      return [...both, engine.read(runningMean) as Float32Array, engine.read(runningVariance) as Float32Array];
    }) as [Float32Array[], Float32Array[]];
    want.forEach((values, i) => {
      assertClose(got[i] as Float32Array, values, 1e-5);
    });
  });
});

const waves = (engine: TorchEngine, shape: readonly number[]): TorchTensor =>
  engine.constant(
    Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.sin(i * i)),
    { shape },
  );

function normOf(engine: TorchEngine, x: TorchTensor): TorchTensor {
  const full = (value: number): TorchTensor => engine.full([x.shape[1] as number], value);
  const statistics = { runningMean: full(0), runningVariance: full(1) };
  return x.batchNorm({ weight: full(1.5), bias: full(0.25), ...statistics, training: true, momentum: 0.1, epsilon: 1e-5 });
}

const DEFERRED: Readonly<Record<string, (engine: TorchEngine) => TorchTensor>> = {
  "a norm": (engine) => normOf(engine, waves(engine, [2, 4, 3, 5])),
  "a norm with a residual and ReLU": (engine) =>
    normOf(engine, waves(engine, [2, 4, 3, 5]))
      .add(engine.full([2, 4, 3, 5], 0.1))
      .relu(),
  "normalised images": (engine) => waves(engine, [2, 3, 4, 6]).mul(waves(engine, [3, 1, 1])),
  "upsampled volumes": (engine) => waves(engine, [1, 4, 2, 3, 4]).resize2d([6, 8], "bilinear"),
  "a concatenation of upsampled volumes": (engine) =>
    engine.concat([waves(engine, [1, 4, 2, 3, 4]).resize2d([6, 8], "bilinear"), engine.full([1, 2, 2, 6, 8], 1)], 1),
};

for (const [name, make] of Object.entries(DEFERRED))
  test(`${name}, deferred, may leave the scope of its operands, returned or kept`, () => {
    scope(() => {
      assert.notEqual(make(fused).deferred, undefined, "deferred at all");
    });
    const before = fused.liveTensors();
    const want = scope(() => plain.read(make(plain)) as Float32Array);
    const returned = scope(() => ({ inside: [make(fused)] })).inside[0] as TorchTensor;
    let kept: TorchTensor | undefined;
    scope(() => {
      kept = keep(make(fused));
    });
    for (const tensor of [returned, kept as TorchTensor]) {
      assertClose(fused.read(tensor) as Float32Array, want, 1e-5);
      tensor.dispose();
    }
    assert.equal(fused.liveTensors(), before);
  });

/** The gradient of the sum of squares by x, which `through` may hide; undefined if it does. */
const gradientBy = (engine: TorchEngine, through: (x: TorchTensor) => Tensor): Float32Array | undefined =>
  scope(() => {
    const x = engine.requireGradient(waves(engine, [2, 4, 3, 5]));
    engine.backward(through(x).square().add(engine.requireGradient(engine.full([1], 1))).sum()); // prettier-ignore
    const gradient = engine.gradient(x);
    return gradient && (engine.read(gradient) as Float32Array);
  });

test("a deferred result is constant if it was asked for without gradients, whatever becomes of it afterwards", () => {
  const constant = (use: (y: TorchTensor) => Tensor) => (x: TorchTensor) => use(x.engine.noGradient(() => normOf(x.engine, x)));
  for (const use of [(y) => y, (y) => y.relu(), (y) => y.add(1), (y) => y.add(y)] satisfies ((y: TorchTensor) => Tensor)[])
    for (const engine of [plain, fused]) assert.equal(gradientBy(engine, constant(use)), undefined);
});

test("a deferred result has its gradient if it was asked for with gradients, though computed where there are none", () => {
  const looked = (x: TorchTensor): Tensor => {
    const y = normOf(x.engine, x);
    x.engine.noGradient(() => x.engine.read(y)); // as a log would
    return y.relu();
  };
  const [want, got] = [plain, fused].map((engine) => gradientBy(engine, looked)) as [Float32Array, Float32Array];
  assertClose(got, want, 2e-4);
});

test("ReLU of −∞ is 0 and of NaN NaN, and an infinite gradient does not pass where it is 0", () => {
  const shape = [1, 4, 1, 4];
  const added = Float32Array.from({ length: 16 }, (_, i) => [-Infinity, NaN, -100, 100][i % 4] as number);
  const upstream = Float32Array.from({ length: 16 }, (_, i) => [Infinity, 1, Infinity, 2][i % 4] as number);
  const [want, got] = [plain, fused].map((engine) =>
    scope(() => {
      const residual = engine.requireGradient(engine.constant(added, { shape }));
      const y = normOf(engine, waves(engine, shape)).add(residual).relu();
      engine.backward(y, engine.constant(upstream, { shape }));
      return [y, engine.gradient(residual) as TorchTensor].map((tensor) => [...engine.read(tensor)].map(Number)) as [number[], number[]];
    }),
  ) as [[number[], number[]], [number[], number[]]];
  for (const [values] of [want, got])
    values.forEach((value, i) => {
      if (i % 4 === 3) assert.ok(value > 90);
      else assert.equal(value, i % 4 === 1 ? NaN : 0);
    });
  for (const [, gradient] of [want, got])
    assert.deepEqual(gradient.filter((_, i) => i % 4 !== 1), [0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 2]); // prettier-ignore
});

interface Operation {
  readonly shapes: readonly (readonly number[])[];
  /** Operands whose gradient is compared; all by default. */
  readonly fixed?: readonly number[];
  readonly body: (engine: TorchEngine, ...operands: TorchTensor[]) => Tensor;
  /** The addon's function that must be used, and how often. */
  readonly uses: readonly [string, number];
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "max pooling, 3×3 with stride 2": {
    shapes: [[2, 4, 7, 6]],
    body: (_, x) => x.maxPool2d({ kernel: [3, 3], stride: [2, 2], padding: [1, 1] }),
    uses: ["trainPool", 1],
  },
  "max pooling, 2×2 with stride 1": {
    shapes: [[1, 8, 4, 5]],
    body: (_, x) => x.maxPool2d({ kernel: [2, 2], stride: [1, 1] }),
    uses: ["trainPool", 1],
  },
  "the first convolution over images": {
    shapes: [
      [2, 3, 12, 16],
      [8, 3, 7, 7],
    ],
    fixed: [0],
    body: (_, x, weight) => x.conv2d(weight, { stride: 2, padding: 3 }),
    uses: ["gatherBlocks", 1],
  },
  "the first convolution over normalised images": {
    shapes: [
      [2, 3, 8, 6],
      [8, 3, 7, 7],
      [3, 1, 1],
      [3, 1, 1],
    ],
    fixed: [0, 2, 3],
    body: (_, x, weight, scale, shift) => x.mul(scale).add(shift).conv2d(weight, { stride: 2, padding: 3 }),
    uses: ["gatherBlocks", 1],
  },
  "normalised images that no convolution follows": {
    shapes: [
      [2, 3, 4, 6],
      [3, 1, 1],
    ],
    fixed: [0],
    body: (_, x, scale) => x.mul(scale),
    uses: ["gatherBlocks", 0],
  },
  "a convolution over volumes upsampled to twice their size": {
    shapes: [
      [2, 4, 3, 3, 4],
      [8, 4, 3, 3, 3],
    ],
    body: (_, x, weight) => x.resize2d([6, 8], "bilinear").conv3d(weight, { padding: 1 }),
    uses: ["trainWindow", 1],
  },
  "a convolution over images upsampled to a size that is no multiple": {
    shapes: [
      [2, 4, 3, 5],
      [3, 4, 3, 3],
    ],
    body: (_, x, weight) => x.resize2d([8, 9], "nearest").conv2d(weight, { padding: 1 }),
    uses: ["trainWindow", 1],
  },
  "a convolution over volumes of three sizes": {
    shapes: [
      [1, 4, 2, 2, 3],
      [1, 3, 2, 4, 6],
      [1, 2, 2, 8, 12],
      [4, 9, 3, 3, 3],
    ],
    body(engine, sixteenth, eighth, quarter, weight) {
      const joined = engine.concat([sixteenth.resize2d([8, 12], "bilinear"), eighth.resize2d([8, 12], "bilinear"), quarter], 1);
      return joined.conv3d(weight, { padding: 1 });
    },
    uses: ["trainWindow", 2],
  },
};

function differentiate(engine: TorchEngine, { shapes, fixed = [], body }: Operation): { values: Float32Array; gradients: Float32Array[] } {
  const random = createRandom(4);
  const draw = (shape: readonly number[]): TorchTensor =>
    engine.constant(
      Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => random.normal()),
      { shape },
    );
  return scope(() => {
    const operands = shapes.map(draw);
    const free = operands.filter((_, i) => !fixed.includes(i)).map((operand) => engine.requireGradient(operand));
    const result = body(engine, ...operands);
    engine.backward(
      result
        .square()
        .mul(draw(result.shape as number[]))
        .sum(),
    );
    const read = (tensor: Tensor): Float32Array => engine.read(tensor) as Float32Array;
    return { values: read(result), gradients: free.map((operand) => read(engine.gradient(operand) as Tensor)) };
  });
}

for (const [name, operation] of Object.entries(OPERATIONS))
  test(`${name} has libtorch's values and gradients`, () => {
    const native = mock.method(fused, "native");
    const [want, got] = [plain, fused].map((engine) => differentiate(engine, operation)) as [
      ReturnType<typeof differentiate>,
      ReturnType<typeof differentiate>,
    ];
    const [kernel, times] = operation.uses;
    assert.equal(native.mock.calls.filter(({ arguments: [called] }) => called === kernel).length, times);
    native.mock.restore();
    assertClose(got.values, want.values, 1e-4);
    want.gradients.forEach((gradient, i) => {
      assertClose(got.gradients[i] as Float32Array, gradient, 2e-3);
    });
  });

for (const [name, from, to] of [
  ["four times their size", [3, 5], [12, 20]],
  ["a size that is no multiple", [4, 3], [9, 11]],
] as const)
  test(`the softmax of logits upsampled to ${name} has libtorch's values and gradients, and is one operator`, () => {
    const native = mock.method(fused, "native");
    const operation = { shapes: [[2, 5, ...from]], body: (_: TorchEngine, x: TorchTensor) => x.mul(3).resize2d(to, "bilinear").softmax(1) }; // prettier-ignore
    const [want, got] = [plain, fused].map((engine) => differentiate(engine, { ...operation, uses: ["trainSoftmax", 1] })) as [
      ReturnType<typeof differentiate>,
      ReturnType<typeof differentiate>,
    ];
    assert.equal(native.mock.calls.filter(({ arguments: [called] }) => called === "trainSoftmax").length, 1);
    native.mock.restore();
    assertClose(got.values, want.values, 1e-6);
    assertClose(got.gradients[0] as Float32Array, want.gradients[0] as Float32Array, 5e-6);
  });

test("upsampled maps that no softmax over planes follows are libtorch's", () => {
  scope(() => {
    const values = Float32Array.from({ length: 2 * 3 * 4 }, (_, i) => Math.sin(i));
    const large = (engine: TorchEngine): Tensor => engine.constant(values, { shape: [1, 2, 3, 4] }).resize2d([6, 8], "bilinear");
    assert.deepEqual(fused.read(large(fused)), plain.read(large(plain)));
    assert.deepEqual(fused.read(large(fused).softmax(2)), plain.read(large(plain).softmax(2)));
  });
});

/** The parts of the loss, and the gradient of the total by the logits of p. */
function lossOf(engine: TorchEngine, dtype: "f32" | "f64", valid: (i: number) => number): { parts: number[]; gradient: number[] } {
  const [B, N, H, W] = [2, 6, 7, 9] as const;
  const random = createRandom(6);
  const draw = (shape: readonly number[], value: (i: number) => number): TorchTensor =>
    engine.constant(Float64Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => value(i)), { shape, dtype }); // prettier-ignore
  return scope(() => {
    const logits = engine.requireGradient(draw([B, N, H, W], () => 3 * random.normal()));
    const truth = {
      trueDepth: draw([B, 1, H, W], () => random.uniform() * (N - 1)),
      valid: draw([B, 1, H, W], valid),
      focusDistances: draw([B, N], (i) => (i % N) + 0.1 * random.uniform()),
    };
    const focusProbability = logits.softmax(1);
    const depth = focusProbability.mul(truth.focusDistances.reshape([B, N, 1, 1])).sum([1], { keepAxes: true });
    const loss = { ...render.loss, weights: { spatial: 0, focal: 7, trend: 0.3 }, beta: 0.6 };
    const { total, depth: ofDepth, focal } = totalLoss({ depth, focusProbability, spatial: undefined, coarser: [] }, truth, loss);
    engine.backward(total);
    const gradient = engine.read(engine.gradient(logits) as Tensor) as Float64Array;
    return { parts: [total, ofDepth, focal].map((part) => engine.item(part)), gradient: [...gradient] };
  });
}

for (const [dtype, tolerance] of [
  ["f32", 2e-6],
  ["f64", 1e-12],
] as const)
  test(`the losses of p in one pass are those written with engine operations, gradients included: ${dtype}`, () => {
    for (const valid of [(i: number) => Number(i % 4 !== 0), (i: number) => (i % 3 === 0 ? 0.1 : 1)]) {
      const native = mock.method(fused, "native");
      const [want, got] = [lossOf(plain, dtype, valid), lossOf(fused, dtype, valid)];
      assert.equal(native.mock.calls.filter(({ arguments: [called] }) => called === "planeLosses").length, 1);
      native.mock.restore();
      assertClose(got.parts, want.parts, tolerance);
      assertClose(got.gradient, want.gradient, tolerance);
      assert.ok(want.parts.every((part) => part > 0.02) && Math.max(...want.gradient) > 1e-3);
    }
    const { parts, gradient } = lossOf(fused, dtype, () => 0);
    assert.ok([...parts, ...gradient].every((value) => value === 0)); // nothing is valid
  });

test("operands that do not fit are refused by name", () => {
  scope(() => {
    const x = fused.full([1, 4, 2, 2], 1);
    assert.throws(() => fused.native("trainPool", x, 5, 1, 0), /larger than the image/);
    assert.throws(() => fused.native("trainPool", fused.full([1, 3, 2, 2], 1), 2, 1, 0), /multiple of 4 channels/);
    assert.throws(() => fused.native("trainWindow", null, x, 4, 4, true), /nine taps/);
    assert.throws(() => fused.native("trainWindow", x, fused.full([1, 9, 2, 2], 1), 4, 4, true), /own: expected the shape/);
    const [focus, map] = [fused.full([1, 4], 1), fused.full([1, 1, 2, 2], 1)];
    assert.throws(() => fused.native("planeLosses", x, map, map, map, 1, 1, 1), /focusDistances: expected one for each plane/);
    assert.throws(() => fused.native("planeLosses", x, focus, x, map, 1, 1, 1), /trueDepth: expected \[B, 1, H, W\]/);
    assert.throws(() => fused.native("planeLosses", x, focus, map, map.cast("f64"), 1, 1, 1), /valid: expected the dtype/);
    assert.throws(() => fused.native("trainSoftmax", focus, 4, 4), /logits: expected f32/);
    assert.throws(() => fused.native("trainSoftmax", x, 0, 4), /height: expected a size/);
    assert.throws(() => fused.native("batchNorm", x, x, x, x, x, 0.1, 1e-5, 0, null), /weight: expected a value for each channel/);
  });
});
