import assert from "node:assert/strict";
import test from "node:test";

import type { DType, NumericArray, Tensor } from "../../../src/engine/engine.ts";
import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine } from "../../../src/engine/torch/torchEngine.ts";
import { assertClose } from "../../helpers/close.ts";

const engine = createTorchEngine({ threads: 2 });
const values = (tensor: Tensor): number[] => Array.from(engine.read(tensor) as ArrayLike<number>, Number);
const vector = (...numbers: number[]) => engine.constant(numbers, { shape: [numbers.length] });
const grid = (rows: number[][]) => engine.constant(rows.flat(), { shape: [rows.length, rows[0]?.length ?? 0] });
const image = (rows: number[][]) => grid(rows).reshape([1, 1, rows.length, rows[0]?.length ?? 0]);

const arrays: [DType, NumericArray][] = [
  ["f32", new Float32Array([1.5, -2, Infinity, NaN, 1e-40, 3])],
  ["f64", new Float64Array([Math.PI, -2, Infinity, NaN, 1e-310, 3])],
  ["u8", new Uint8Array([0, 1, 127, 128, 254, 255])],
  ["i32", new Int32Array([0, -1, 2 ** 31 - 1, -(2 ** 31), 5, 6])],
  ["i64", new BigInt64Array([0n, -1n, 2n ** 62n, -(2n ** 63n), 9007199254740993n, 6n])],
  ["f16", new Uint16Array([0x3c00, 0xc000, 0x7c00, 0x0001, 0, 0x3555])],
  ["bf16", new Uint16Array([0x3f80, 0xc000, 0x7f80, 0x0001, 0, 0x3eab])],
  ["bool", new Uint8Array([0, 1, 1, 0, 1, 0])],
];

test("typed arrays of every dtype come back bit for bit", () => {
  for (const [dtype, array] of arrays) {
    const tensor = engine.constant(array, { shape: [2, 3], dtype });
    assert.equal(tensor.dtype, dtype);
    assert.deepEqual(tensor.shape, [2, 3]);
    assert.deepEqual(engine.read(tensor), array);
  }
});

test("reading follows the shape, not the memory, and a copy is a copy", () => {
  const source = new Float32Array([1, 2, 3, 4, 5, 6]);
  const tensor = engine.constant(source, { shape: [2, 3] });
  source.fill(9);
  assert.deepEqual(values(tensor.permute([1, 0])), [1, 4, 2, 5, 3, 6]);
  assert.deepEqual(values(tensor.slice(1, { start: 1 })), [2, 3, 5, 6]);
});

test("numbers become the dtype asked for", () => {
  assert.deepEqual(engine.read(engine.constant([1, 2.5], { shape: [2], dtype: "f16" })), new Uint16Array([0x3c00, 0x4100]));
  assert.deepEqual(engine.read(engine.constant([1, -2], { shape: [2], dtype: "i64" })), new BigInt64Array([1n, -2n]));
  assert.deepEqual(engine.read(engine.constant(new Float64Array([0.5]), { shape: [1] })), new Float32Array([0.5]));
  assert.deepEqual(engine.read(engine.range(3, { dtype: "i32" })), new Int32Array([0, 1, 2]));
  assert.deepEqual(values(engine.full([2], 0.25, { dtype: "f64" })), [0.25, 0.25]);
  assert.deepEqual(values(engine.constant([], { shape: [0, 3] })), []);
});

test("writing and copying change a tensor in place", () => {
  const tensor = engine.full([2], 0);
  const view = tensor.reshape([2, 1]);
  engine.write(tensor, new Float32Array([1, 2]));
  assert.deepEqual(values(view), [1, 2]);
  engine.copy(tensor, engine.constant([3, 4], { shape: [2], dtype: "f64" }));
  assert.deepEqual(values(view), [3, 4]);
});

test("elementwise operations", () => {
  const [a, b] = [vector(1, -2, 3), vector(2, 4, -0.5)];
  assert.deepEqual(values(a.add(b)), [3, 2, 2.5]);
  assert.deepEqual(values(a.sub(1)), [0, -3, 2]);
  assert.deepEqual(values(a.mul(b)), [2, -8, -1.5]);
  assert.deepEqual(values(a.div(b)), [0.5, -0.5, -6]);
  assert.deepEqual(values(a.maximum(b)), [2, 4, 3]);
  assert.deepEqual(values(a.maximum(2)), [2, 2, 3]);
  assert.deepEqual(values(a.pow(2)), [1, 4, 9]);
  assert.deepEqual(values(a.neg()), [-1, 2, -3]);
  assert.deepEqual(values(a.abs()), [1, 2, 3]);
  assert.deepEqual(values(a.square()), [1, 4, 9]);
  assert.deepEqual(values(a.relu()), [1, 0, 3]);
  assert.deepEqual(values(a.leakyRelu(0.5)), [1, -1, 3]);
  assert.deepEqual(values(a.clamp({ min: -1, max: 2 })), [1, -1, 2]);
  assertClose(values(a.exp()), [Math.E, Math.exp(-2), Math.exp(3)], 1e-6);
  assertClose(values(b.abs().log()), [Math.log(2), Math.log(4), Math.log(0.5)], 1e-6);
  assertClose(values(b.abs().sqrt()), [Math.SQRT2, 2, Math.SQRT1_2], 1e-6);
  assertClose(
    values(a.sigmoid()),
    [1, -2, 3].map((x) => 1 / (1 + Math.exp(-x))),
    1e-6,
  );
});

test("comparisons, logic and choice", () => {
  const a = vector(1, 2, 3);
  assert.equal(a.less(2).dtype, "bool");
  assert.deepEqual(values(a.less(2)), [1, 0, 0]);
  assert.deepEqual(values(a.lessEqual(2)), [1, 1, 0]);
  assert.deepEqual(values(a.greater(2)), [0, 0, 1]);
  assert.deepEqual(values(a.greaterEqual(vector(2, 2, 2))), [0, 1, 1]);
  const [low, high] = [a.lessEqual(2), a.greaterEqual(2)];
  assert.deepEqual(values(low.logicalAnd(high)), [0, 1, 0]);
  assert.deepEqual(values(low.where(a, 9)), [1, 2, 9]);
  assert.deepEqual(values(low.where(9, a)), [9, 9, 3]);
  assert.deepEqual(values(low.where(a, a.neg())), [1, 2, -3]);
});

test("reductions", () => {
  const a = grid([
    [1, 5, 3],
    [4, 2, 5],
  ]);
  assert.equal(engine.item(a.sum()), 20);
  assert.deepEqual(a.sum().shape, []);
  assert.deepEqual(values(a.sum([0])), [5, 7, 8]);
  assert.deepEqual(a.mean([0, 1], { keepAxes: true }).shape, [1, 1]);
  assert.deepEqual(values(a.mean([-1])), [3, 11 / 3].map(Math.fround));
  assert.deepEqual(values(a.max(1)), [5, 5]);
  assert.deepEqual(engine.read(a.argmax(1)), new BigInt64Array([1n, 2n]));
  assert.deepEqual(engine.read(vector(3, 7, 7).argmax(0)), new BigInt64Array([1n]));
  assertClose(values(vector(0, Math.log(3)).softmax(0)), [0.25, 0.75], 1e-6);
});

test("products and solutions", () => {
  const a = grid([
    [2, 0],
    [1, 1],
  ]);
  assert.deepEqual(values(a.matmul(a)), [4, 0, 3, 1]);
  assert.deepEqual(values(a.solve(a.matmul(a))), [2, 0, 1, 1]);
});

test("shapes", () => {
  const a = grid([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  assert.deepEqual(a.unsqueeze(-1).squeeze(2).shape, [2, 3]);
  assert.throws(() => a.squeeze(0), /squeeze\(\[2, 3\], 0\)/);
  assert.deepEqual(values(a.flip(1)), [3, 2, 1, 6, 5, 4]);
  assert.deepEqual(values(a.slice(1, { start: 1, end: -1 })), [2, 5]);
  assert.deepEqual(a.unsqueeze(0).expand([4, 2, 3]).shape, [4, 2, 3]);
  assert.deepEqual(engine.concat([a, a], 0).shape, [4, 3]);
  assert.equal(a.cast("i32").dtype, "i32");
});

test("padding of any axis", () => {
  const a = grid([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  assert.deepEqual(values(a.pad([[1, 0], [0, 1]])), [0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0]); // prettier-ignore
  assert.throws(() => a.pad([[0, 0]]), /every axis/);
});

test("convolutions", () => {
  const picture = image([
    [1, 2, 3],
    [4, 5, 6],
    [7, 8, 9],
  ]);
  const kernel = image([
    [0, 1],
    [-1, 0],
  ]);
  assert.deepEqual(values(picture.conv2d(kernel, { bias: vector(100) })), [98, 98, 98, 98]);
  assert.deepEqual(picture.conv2d(kernel, { stride: 2, padding: 1 }).shape, [1, 1, 2, 2]);
  const volume = picture.unsqueeze(2).expand([1, 1, 4, 3, 3]);
  const box = engine.full([2, 1, 2, 3, 3], 1);
  assert.deepEqual(values(volume.conv3d(box)), [90, 90, 90, 90, 90, 90]);
});

test("batch norm normalises by the batch and moves the running statistics, the variance unbiased", () => {
  const x = engine.constant([1, 3, 10, 30], { shape: [2, 2], dtype: "f64" }).permute([1, 0]); // channel 0: 1, 10; channel 1: 3, 30
  const f64 = (value: number) => engine.full([2], value, { dtype: "f64" });
  const options = { weight: f64(2), bias: f64(1), runningMean: f64(0), runningVariance: f64(1), momentum: 0.1, epsilon: 0 };
  const trained = x.permute([1, 0]).batchNorm({ ...options, training: true });
  assertClose(values(trained), [-1, -1, 3, 3], 1e-12);
  assertClose(values(options.runningMean), [0.55, 1.65], 1e-12);
  assertClose(values(options.runningVariance), [0.9 + 0.1 * 40.5, 0.9 + 0.1 * 364.5], 1e-12);
  const before = values(options.runningMean);
  const evaluated = engine.full([1, 2], 0.55, { dtype: "f64" }).batchNorm({ ...options, training: false });
  assert.equal(values(evaluated)[0], 1);
  assert.deepEqual(values(options.runningMean), before);
});

test("group norm with one group is a norm over all channels", () => {
  const x = engine.constant([1, 2, 3, 4], { shape: [1, 2, 2], dtype: "f64" });
  const [weight, bias] = [engine.constant([1, 2], { shape: [2], dtype: "f64" }), engine.full([2], 0, { dtype: "f64" })];
  const normal = x.groupNorm({ groups: 1, weight, bias, epsilon: 0 });
  const s = Math.sqrt(1.25);
  assertClose(values(normal), [-1.5 / s, -0.5 / s, 1 / s, 3 / s], 1e-12);
});

test("resizing and pooling", () => {
  const picture = image([
    [0, 4],
    [8, 12],
  ]);
  assert.deepEqual(values(picture.resize2d([1, 4], "bilinear")), [4, 5, 7, 8]);
  assert.deepEqual(values(picture.resize2d([3, 2], "nearest")), [0, 4, 0, 4, 8, 12]); // source row ⌊i · 2/3⌋
  assert.deepEqual(values(picture.maxPool2d({ kernel: [2, 2], stride: [2, 2], padding: [1, 1] })), [0, 4, 8, 12]);
  assert.deepEqual(values(picture.avgPool({ kernel: [2, 2], stride: [2, 2], padding: [1, 1] })), [0, 4, 8, 12]);
  assert.deepEqual(values(picture.unsqueeze(0).avgPool({ kernel: [1, 2, 2], stride: [1, 1, 1] })), [6]);
});

test("the same seed gives the same random numbers", () => {
  const draw = (seed: number) => {
    engine.seed(seed);
    return values(engine.compute("aten::rand", [4]));
  };
  assert.deepEqual(draw(3), draw(3));
  assert.notDeepEqual(draw(3), draw(4));
});

test("threads are set when the engine is made", () => {
  assert.equal(engine.native("threads"), 2);
  createTorchEngine({ threads: 1 });
  assert.equal(engine.native("threads"), 1);
  createTorchEngine({ threads: 2 });
  assert.throws(() => createTorchEngine({ threads: 0 }), /setThreads\(0\)/);
});

test("operators are reached by name, with lists, optional tensors, several results and the schema's defaults", () => {
  const a = vector(1, 2, 3);
  const [maximum, index] = engine.call("aten::max.dim", a, 0) as Tensor[];
  assert.deepEqual([maximum && engine.item(maximum), index && engine.item(index)], [3, 2]);
  engine.call("aten::_foreach_mul_.Scalar", [a, a], 2);
  assert.deepEqual(values(a), [4, 8, 12]);
  assert.deepEqual(values(engine.compute("aten::index.Tensor", a.reshape([1, 3]), [null, vector(2, 0).cast("i64")])), [12, 4]);
  assert.equal(engine.call("aten::is_floating_point", a), true);
  assert.equal(engine.call("aten::size.int", a, 0), 3);
});

test("channels-last memory keeps values and shape", () => {
  for (const shape of [
    [2, 3, 4, 5],
    [2, 3, 2, 4, 5],
  ]) {
    const x = engine.range(shape.reduce((product, size) => product * size)).reshape(shape);
    const last = engine.channelsLast(x);
    assert.deepEqual(last.shape, shape);
    assert.deepEqual(values(last), values(x));
    assert.equal(engine.call("aten::stride.int", last, 1), 1);
  }
});

test("live bytes count shared memory once; memory figures are plausible", () => {
  scope(() => {
    const before = engine.liveBytes();
    const a = engine.full([256, 256], 1);
    a.reshape([-1]);
    assert.equal(engine.liveBytes() - before, 256 * 256 * 4);
    const { allocated, reserved, peak } = engine.memory();
    assert.ok(allocated >= 256 * 256 * 4 && reserved > allocated && peak >= reserved / 2);
  });
});

test("integers keep their dtype when a whole number is added, and 64-bit values their last bit", () => {
  const a = engine.constant(new BigInt64Array([9007199254740993n]), { shape: [1], dtype: "i64" });
  assert.deepEqual(engine.read(a.add(1)), new BigInt64Array([9007199254740994n]));
});

test("without CUDA the engine says so", () => {
  if (engine.native("cudaAvailable")) return;
  assert.throws(() => createTorchEngine({ device: "cuda" }), /useCuda\(cuda\)/);
  assert.throws(() => engine.captureGraph(() => 1), /captureGraph: only a CUDA device/);
});
