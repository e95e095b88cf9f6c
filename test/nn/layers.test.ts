import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tensor } from "../../src/engine/engine.ts";
import { ShapeError } from "../../src/engine/errors.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { WeightArray } from "../../src/io/safetensors.ts";
import { Conv2d, Conv3d } from "../../src/nn/conv.ts";
import { convNorm2d } from "../../src/nn/convNorm.ts";
import { TopDownPyramid } from "../../src/nn/fpn.ts";
import { kaimingNormal, ones, uniformFanIn, uniformWithin, zeros } from "../../src/nn/init.ts";
import { createParameters } from "../../src/nn/module.ts";
import { BatchNorm, GroupNorm } from "../../src/nn/norm.ts";
import { partCounts, PyramidPooling } from "../../src/nn/pyramidPooling.ts";
import { ResNet18 } from "../../src/nn/resnet.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });
const read = (tensor: Tensor): number[] => [...(engine.read(tensor) as Float32Array)];
const tensor = (values: readonly number[], ...shape: number[]): Tensor => engine.constant(values, { shape });

/** A source of exactly these values. */
const given = (values: Record<string, { shape: number[]; data: readonly number[] }>) => {
  const weights = new Map(
    Object.entries(values).map(([name, { shape, data }]): [string, WeightArray] => [name, { shape, data: Float32Array.from(data) }]),
  );
  return createParameters(engine, { weights });
};
const random = () => createParameters(engine, { random: createRandom(1) });

const deviation = (values: Float32Array): number => Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);

test("initialisers have the spread they promise", () => {
  const shape = [64, 32, 3, 3];
  const draw = (init: typeof zeros): Float32Array => init(shape, createRandom(2));
  assert.ok(Math.abs(deviation(draw(kaimingNormal("out"))) / Math.sqrt(2 / (64 * 9)) - 1) < 0.02);
  assert.ok(Math.abs(deviation(draw(kaimingNormal("in"))) / Math.sqrt(2 / (32 * 9)) - 1) < 0.02);
  const bound = 1 / Math.sqrt(32 * 9);
  const uniform = draw(uniformFanIn);
  assert.ok(uniform.every((value) => Math.abs(value) <= bound));
  assert.ok(Math.abs(deviation(uniform) / (bound / Math.sqrt(3)) - 1) < 0.02);
  assert.ok(uniformWithin(0.1)([1000], createRandom(3)).every((value) => Math.abs(value) <= 0.1));
  assert.deepEqual([zeros([2], createRandom(1)), ones([2], createRandom(1))], [Float32Array.of(0, 0), Float32Array.of(1, 1)]);
});

test("convolutions keep the size, or halve it with stride 2; a window of one is a mix of channels", () => {
  const x = engine.range(2 * 8 * 6).reshape([1, 2, 8, 6]);
  assert.deepEqual(new Conv2d(random().source, { in: 2, out: 3, kernel: 3 }).forward(x).shape, [1, 3, 8, 6]);
  assert.deepEqual(new Conv2d(random().source, { in: 2, out: 3, kernel: 7, stride: 2 }).forward(x).shape, [1, 3, 4, 3]);
  assert.deepEqual(new Conv3d(random().source, { in: 2, out: 3, kernel: 3 }).forward(x.reshape([1, 2, 2, 4, 6])).shape, [1, 3, 2, 4, 6]);
  const mix = given({ weight: { shape: [1, 2, 1, 1], data: [10, 1] }, bias: { shape: [1], data: [0.5] } });
  const conv = new Conv2d(mix.source, { in: 2, out: 1, kernel: 1, bias: true });
  assert.deepEqual(read(conv.forward(tensor([1, 2, 3, 4], 1, 2, 1, 2))), [13.5, 24.5]);
});

test("batch norm uses the batch while training and moves its statistics, and these afterwards", () => {
  const tree = random();
  const norm = new BatchNorm(tree.source, 1);
  const x = tensor([0, 2, 4, 6], 4, 1);
  tree.mode.training = true;
  const s = Math.sqrt(5); // mean 3, variance 5; unbiased 20/3
  assertClose(read(norm.forward(x)), [-3 / s, -1 / s, 1 / s, 3 / s], 1e-5);
  assertClose([...read(norm.runningMean), ...read(norm.runningVariance)], [0.3, 0.9 + 0.1 * (20 / 3)], 1e-6);
  tree.mode.training = false;
  const t = Math.sqrt(0.9 + 2 / 3);
  assertClose(read(norm.forward(x)), [-0.3 / t, 1.7 / t, 3.7 / t, 5.7 / t], 1e-5);
  assertClose(read(norm.runningMean), [0.3], 1e-6);
});

test("group norm with one group has mean 0 and variance 1 over all channels together", () => {
  const y = read(new GroupNorm(random().source, { groups: 1, channels: 2 }).forward(tensor([1, 2, 3, 4, 50, 60, 70, 80], 2, 2, 2)));
  for (const sample of [y.slice(0, 4), y.slice(4)]) {
    assert.ok(Math.abs(sample.reduce((sum, value) => sum + value, 0)) < 1e-5);
    assert.ok(Math.abs(sample.reduce((sum, value) => sum + value ** 2, 0) / 4 - 1) < 1e-4);
  }
});

test("the leak of the pyramid's LeakyReLU is 0.1", () => {
  const one = { shape: [1], data: [1] };
  const zero = { shape: [1], data: [0] };
  const { source } = given({
    "conv.weight": { shape: [1, 1, 1, 1], data: [1] },
    "norm.weight": one,
    "norm.bias": zero,
    "norm.running_mean": zero,
    "norm.running_var": one,
  });
  const layer = convNorm2d(source, { in: 1, out: 1, kernel: 1, activation: "leakyRelu" });
  assertClose(read(layer.forward(tensor([-2, 3], 1, 1, 1, 2))), [-0.2, 3], 1e-4);
});

test("DFV's pooling windows are those of its code: 7×7 and 12×18 maps", () => {
  // its own numbers: s = int(linspace(1, side // 2, 4)), kernel = (h // s, w // s), smallest first
  const kernels = (h: number, w: number): string =>
    partCounts(Math.floor(Math.min(h, w) / 2))
      .reverse()
      .map((parts) => `${Math.floor(h / parts)}×${Math.floor(w / parts)}`)
      .join(" ");
  assert.deepEqual(partCounts(2), [1, 1, 1, 2]); // five planes
  assert.equal(kernels(7, 7), "2×2 3×3 7×7 7×7");
  assert.equal(kernels(12, 18), "2×3 3×4 6×9 12×18");
});

test("pyramid pooling keeps the shape at any size, also where the windows are larger than the map", () => {
  const pooling = new PyramidPooling(random().source, { channels: 3, windows: "sliding" });
  for (const [h, w] of [[2, 2], [7, 12]] as const) assert.deepEqual(pooling.forward(engine.full([2, 3, h, w], 0.3)).shape, [2, 3, h, w]); // prettier-ignore
});

test("the trunk and the pyramid give four scales; the trunk's first has as many channels as asked for", () => {
  const widths = [4, 6, 8, 10] as const;
  const trunk = new ResNet18(random().source, { widths, classifier: false });
  const features = trunk.forward(engine.full([1, 3, 64, 96], 0.5));
  const shapes = (scales: object): unknown[] => Object.values(scales).map((scale) => (scale as Tensor).shape);
  assert.deepEqual(shapes(features), [[1, 4, 16, 24], [1, 6, 8, 12], [1, 8, 4, 6], [1, 10, 2, 3]]); // prettier-ignore
  for (const step of ["conv3", "conv1"] as const) {
    const pyramid = new TopDownPyramid(random().source, { widths, out: [1, 2, 3, 5], step });
    assert.deepEqual(shapes(pyramid.forward(features)), [[1, 1, 16, 24], [1, 2, 8, 12], [1, 3, 4, 6], [1, 5, 2, 3]]); // prettier-ignore
  }
});

test("weights that are missing are named", () => {
  assert.throws(() => new Conv2d(given({}).source, { in: 1, out: 1, kernel: 1 }), ShapeError);
});
