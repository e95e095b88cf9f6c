import assert from "node:assert/strict";
import { mock, test } from "node:test";

import type { BatchNormOptions } from "../../../src/engine/engine.ts";
import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../../../src/engine/torch/torchEngine.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";

const plain = createTorchEngine({ threads: 2 });
const fused = createTorchEngine({ threads: 2, inference: { precision: "f32", worthwhile: { multiplications: 1, channels: 1 } } });

const random = createRandom(19);
const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

interface Case {
  readonly name: string;
  readonly shapes: readonly (readonly number[])[];
  /** Convolutions that are done before upsampling. */
  readonly windows: number;
  readonly body: (engine: TorchEngine, ...operands: TorchTensor[]) => TorchTensor;
}

function normOf(engine: TorchEngine, channels: number): BatchNormOptions {
  const vector = (value: (i: number) => number) => engine.constant(Float32Array.from({ length: channels }, (_, i) => value(i)), { shape: [channels] }); // prettier-ignore
  return {
    weight: vector((i) => 1 + i / 7),
    bias: vector((i) => i / 5 - 0.4),
    runningMean: vector((i) => i / 9),
    runningVariance: vector((i) => 0.5 + i / 3),
    training: false,
    momentum: 0.1,
    epsilon: 1e-5,
  };
}

const CASES: readonly Case[] = [
  {
    name: "bilinear, twice the size, with norm and ReLU",
    shapes: [
      [2, 4, 3, 5, 6],
      [8, 4, 3, 3, 3],
    ],
    windows: 1,
    body: (engine, x, weight) => x.resize2d([10, 12], "bilinear").conv3d(weight, { padding: 1 }).batchNorm(normOf(engine, 8)).relu(),
  },
  {
    name: "bilinear, to a size that is no multiple",
    shapes: [[1, 3, 2, 3, 5], [5, 3, 3, 3, 3], [5]],
    windows: 1,
    body: (_, x, weight, bias) => x.resize2d([7, 9], "bilinear").conv3d(weight, { bias, padding: 1 }),
  },
  {
    name: "nearest, images, LeakyReLU, written into a concatenation",
    shapes: [
      [3, 4, 3, 4],
      [2, 4, 3, 3],
      [3, 5, 6, 8],
    ],
    windows: 1,
    body: (engine, x, weight, other) =>
      engine.concat([other, x.resize2d([6, 8], "nearest").conv2d(weight, { padding: 1 }).leakyRelu(0.1)], 1),
  },
  {
    name: "a concatenation of two upsampled volumes and two others, in any order",
    shapes: [
      [1, 4, 3, 2, 3],
      [1, 2, 3, 8, 12],
      [1, 3, 3, 4, 6],
      [1, 1, 3, 8, 12],
      [8, 10, 3, 3, 3],
    ],
    windows: 1,
    body(engine, sixteenth, quarter, eighth, more, weight) {
      const parts = [sixteenth.resize2d([8, 12], "bilinear"), quarter, eighth.resize2d([8, 12], "bilinear"), more];
      return engine.concat(parts, 1).conv3d(weight, { padding: 1 }).relu();
    },
  },
  {
    name: "one weight over other parts, with another norm or bias the next time",
    shapes: [[1, 4, 3, 2, 3], [1, 4, 3, 4, 6], [8, 8, 3, 3, 3], [8]],
    windows: 6,
    body(engine, small, large, weight, bias) {
      const up = (): TorchTensor => small.resize2d([4, 6], "bilinear");
      const over = (...parts: TorchTensor[]): TorchTensor => engine.concat(parts, 1);
      const results = [
        over(up(), large).conv3d(weight, { padding: 1 }),
        over(large, up()).conv3d(weight, { padding: 1 }),
        over(up(), up()).conv3d(weight, { padding: 1 }),
        over(up(), large).conv3d(weight, { padding: 1, bias }),
        over(up(), large).conv3d(weight, { padding: 1 }).batchNorm(normOf(engine, 8)),
        over(up(), large).conv3d(weight, { padding: 1 }).batchNorm({ ...normOf(engine, 8), epsilon: 0.5 }), // prettier-ignore
      ];
      return engine.compute("aten::stack", results);
    },
  },
  {
    name: "not with a residual, with a stride or without padding",
    shapes: [
      [1, 4, 3, 4],
      [4, 4, 3, 3],
    ],
    windows: 0,
    body(_, x, weight) {
      const large = (): TorchTensor => x.resize2d([6, 8], "bilinear");
      const same = large().conv2d(weight, { padding: 1 }).add(large()).relu();
      const strided = large().conv2d(weight.mul(1), { padding: 1, stride: 2 });
      const inner = large().conv2d(weight.mul(1));
      return same
        .sum([2, 3])
        .add(strided.sum([2, 3]))
        .add(inner.sum([2, 3]));
    },
  },
];

for (const { name, shapes, windows, body } of CASES)
  test(`a convolution over upsampled maps is the same before upsampling: ${name}`, () => {
    const values = shapes.map((shape) => Float32Array.from({ length: count(shape) }, () => random.normal()));
    const native = mock.method(fused, "native");
    const [want, got] = [plain, fused].map((engine) =>
      engine.noGradient(() =>
        scope(() => {
          const result = body(engine, ...values.map((data, i) => engine.constant(data, { shape: shapes[i] as readonly number[] })));
          return { values: engine.read(result) as Float32Array, shape: result.shape };
        }),
      ),
    ) as [{ values: Float32Array; shape: readonly number[] }, { values: Float32Array; shape: readonly number[] }];
    const used = native.mock.calls.filter(({ arguments: [operation] }) => operation === "windowSum").length;
    native.mock.restore();
    assert.deepEqual(got.shape, want.shape);
    assertClose(got.values, want.values, 2e-5);
    assert.equal(used, windows);
  });

test("small convolutions stay as they are", () => {
  const usual = createTorchEngine({ threads: 2, inference: { precision: "f32" } });
  const native = mock.method(usual, "native");
  scope(() =>
    usual.read(
      usual
        .full([1, 2, 2, 2], 1)
        .resize2d([4, 4], "nearest")
        .conv2d(usual.full([2, 2, 3, 3], 1), { padding: 1 }),
    ),
  );
  assert.ok(native.mock.calls.every(({ arguments: [operation] }) => operation !== "windowSum"));
});

test("windowSum names what is wrong with its operands", () => {
  scope(() => {
    const empty = (...shape: number[]): TorchTensor => fused.channelsLast(fused.full(shape, 0));
    const bias = fused.full([2], 0);
    const call =
      (target: TorchTensor, first: number, ...sources: TorchTensor[]) =>
      () => {
        fused.native("windowSum", target, first, null, bias, 0, true, ...sources);
      };
    assert.throws(call(empty(1, 2, 4, 4), 1, empty(1, 18, 2, 2)), /firstChannel: the channels do not fit/);
    assert.throws(call(empty(1, 2, 4, 4), 0, empty(1, 17, 2, 2)), /source: expected 18 channels/);
    assert.throws(call(empty(1, 2, 4, 4), 0, ...Array.from({ length: 4 }, () => empty(1, 18, 2, 2))), /more than 3/);
  });
});
