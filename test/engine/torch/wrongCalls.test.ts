import assert from "node:assert/strict";
import test from "node:test";

import type { Tensor } from "../../../src/engine/engine.ts";
import { DeviceLimitError, EngineError } from "../../../src/engine/errors.ts";
import { engine, junk, refuses } from "../wrongCalls.ts";

const image = engine.full([2, 3, 8, 9], 0.5);
const volume = engine.full([2, 3, 4, 8, 9], 0.5);
const matrix = engine.full([4, 5], 0.5);
const whole = engine.constant([1, 2, 3], { shape: [3], dtype: "i64" });

const twoOperands = ["add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "maximum", "minimum", "matmul", "lt.Tensor", "logical_and"];
const withWeights = ["conv2d", "conv3d", "linear"];
const listFirst = ["cat", "stack", "_foreach_sqrt"];

test("junk in place of a tensor is refused by every operator", () => {
  for (const [, value] of junk) {
    for (const name of [...twoOperands, ...withWeights])
      refuses(name.replace(/\..*/, ""), () => engine.call(`aten::${name}`, matrix, value));
    for (const name of [...twoOperands, ...withWeights])
      refuses(name.replace(/\..*/, ""), () => engine.call(`aten::${name}`, value, matrix));
    for (const name of listFirst) {
      refuses(name, () => engine.call(`aten::${name}`, value));
      refuses(name, () => engine.call(`aten::${name}`, [matrix, value]));
    }
  }
});

test("junk in place of numbers, lists, names and flags is refused", () => {
  const notNumbers = junk.filter(([kind]) => kind !== "undefined" && kind !== "null");
  for (const [, value] of notNumbers) {
    refuses("softmax", () => engine.call("aten::softmax.int", matrix, value));
    refuses("reshape", () => engine.call("aten::reshape", matrix, value));
    refuses("reshape", () => engine.call("aten::reshape", matrix, [4, value]));
    refuses("add", () => engine.call("aten::add.Scalar", matrix, value));
    refuses("leaky_relu", () => engine.call("aten::leaky_relu", matrix, value));
    refuses("sum", () => engine.call("aten::sum.dim_IntList", matrix, [0], value));
    refuses("to", () => engine.call("aten::to.dtype", matrix, value));
    refuses("contiguous", () => engine.call("aten::contiguous", image, value));
    refuses("full", () => engine.call("aten::full", [2], 1, "f32", null, value));
    refuses("conv2d", () => engine.call("aten::conv2d", image, image, null, value));
    refuses("group_norm", () => engine.call("aten::group_norm", image, 1, null, null, value));
  }
});

test("whole numbers must be whole, finite and in range", () => {
  for (const value of [NaN, Infinity, -Infinity, 1.5, 2 ** 60, -(2 ** 63), 1e300]) {
    refuses("softmax", () => matrix.softmax(value));
    refuses("reshape", () => matrix.reshape([value, 2]));
    refuses("permute", () => matrix.permute([0, value]));
    refuses("slice", () => matrix.slice(0, { start: value }));
    refuses("conv2d", () => image.conv2d(image, { stride: value }));
    refuses("full", () => engine.full([value], 1));
    refuses("flip", () => matrix.flip(value));
    refuses("cat", () => engine.concat([matrix], value));
  }
});

test("axes, sizes and counts out of range are refused", () => {
  for (const axis of [2, 7, -3, -100, 1e9]) {
    refuses("softmax", () => matrix.softmax(axis));
    refuses("sum", () => matrix.sum([axis]));
    refuses("mean", () => matrix.mean([axis]));
    refuses("amax", () => matrix.max(axis));
    refuses("argmax", () => matrix.argmax(axis));
    refuses("slice", () => matrix.slice(axis, {}));
    refuses("flip", () => matrix.flip(axis));
    refuses("squeeze", () => matrix.squeeze(axis));
    refuses("cat", () => engine.concat([matrix, matrix], axis));
    refuses("permute", () => matrix.permute([0, axis]));
  }
  for (const size of [0, -1]) {
    const pool = { kernel: [size, size], stride: [1, 1] };
    refuses("max_pool2d", () => image.maxPool2d(pool));
    refuses("avg_pool2d", () => image.avgPool(pool));
    refuses("max_pool2d", () => image.maxPool2d({ kernel: [2, 2], stride: [size, size] }));
    refuses("avg_pool3d", () => volume.avgPool({ kernel: [1, 1, 1], stride: [size, size, size] }));
    refuses("resize2d", () => image.resize2d([size, 4], "bilinear"));
    refuses("resize2d", () => image.resize2d([4, size], "nearest"));
    refuses("conv2d", () => image.conv2d(engine.full([2, 3, 3, 3], 1), { stride: size }));
    refuses("groupNorm", () => image.groupNorm({ groups: size, weight: engine.full([3], 1), bias: engine.full([3], 0), epsilon: 1e-5 }));
  }
});

test("shapes that do not fit are refused with both shapes in the message", () => {
  const message = refuses("add", () => matrix.add(engine.full([3], 1)));
  assert.match(message, /add\(\[4, 5\], \[3\]\): .*size of tensor a \(5\)/);
  const three = engine.full([3], 1);
  const norm = { weight: three, bias: three, runningMean: three, runningVariance: three, training: true, momentum: 0.1, epsilon: 1e-5 };
  const seven = engine.full([7], 1);
  refuses("matmul", () => matrix.matmul(matrix));
  refuses("conv2d", () => image.conv2d(engine.full([2, 4, 3, 3], 1)));
  refuses("conv2d", () => image.conv2d(engine.full([2, 3, 3, 3], 1), { bias: seven }));
  refuses("conv2d", () => image.conv2d(engine.full([2, 3, 30, 30], 1)));
  refuses("conv3d", () => volume.conv3d(engine.full([2, 3, 3, 3], 1)));
  refuses("conv3d", () => volume.conv3d(engine.full([2, 4, 3, 3, 3], 1)));
  refuses("batch_norm", () => image.batchNorm({ ...norm, weight: seven }));
  refuses("batch_norm", () => image.batchNorm({ ...norm, runningMean: seven }));
  refuses("group_norm", () => image.groupNorm({ groups: 2, weight: three, bias: three, epsilon: 1e-5 }));
  refuses("group_norm", () => image.groupNorm({ groups: 3, weight: seven, bias: seven, epsilon: 1e-5 }));
  refuses("reshape", () => matrix.reshape([3, 7]));
  refuses("reshape", () => matrix.reshape([-1, -1]));
  refuses("expand", () => matrix.expand([4, 6]));
  refuses("permute", () => matrix.permute([0]));
  refuses("permute", () => matrix.permute([0, 0]));
  refuses("cat", () => engine.concat([matrix, image], 0));
  refuses("cat", () => engine.concat([], 0));
  refuses("linalg_solve", () => matrix.solve(matrix));
  refuses("resize2d", () => matrix.resize2d([4, 4], "bilinear"));
  refuses("max_pool2d", () => matrix.reshape([20]).maxPool2d({ kernel: [2, 2], stride: [2, 2] }));
  refuses("where", () => matrix.greater(0).where(seven, 0));
  refuses("contiguous", () => engine.channelsLast(matrix));
  refuses("copy_", () => {
    engine.copy(matrix, seven);
  });
});

test("a singular system is refused", () => {
  refuses("linalg_solve", () => engine.full([3, 3], 1).solve(engine.full([3, 1], 1)));
});

test("dtypes that do not fit are refused", () => {
  refuses("conv2d", () => image.conv2d(engine.full([2, 3, 3, 3], 1, { dtype: "f64" })));
  refuses("matmul", () => matrix.matmul(engine.full([5, 2], 1, { dtype: "f64" })));
  refuses("mean", () => whole.mean());
  refuses("softmax", () => whole.softmax(0));
  refuses("setRequiresGrad", () => engine.requireGradient(whole));
  refuses("where", () => matrix.where(matrix, 0));
  refuses("to", () => matrix.cast("f8" as "f32"));
  refuses("full", () => engine.full([1], 1, { dtype: "complex" as "f32" }));
  refuses("upsample_bilinear2d", () => whole.reshape([1, 1, 1, 3]).resize2d([2, 2], "bilinear"));
});

test("sizes no machine has are refused", () => {
  refuses("full", () => engine.full([1e9, 1e9], 0));
  refuses("full", () => engine.full([2 ** 40, 2 ** 40], 0));
  refuses("full", () => engine.full([-1], 0));
  refuses("arange", () => engine.range(1e18));
  refuses("constant_pad_nd", () => matrix.pad([[0, 1e9], [0, 1e9]])); // prettier-ignore
  refuses("upsample_nearest2d", () => image.resize2d([1e9, 1e9], "nearest"));
  refuses("conv2d", () => image.conv2d(engine.full([2, 3, 3, 3], 1), { padding: 1e9 }));
});

test("unknown operators and too many arguments are refused", () => {
  for (const name of ["aten::nothing", "aten::add.Nothing", "add", "", "::", "aten::", "prim::foo", "a".repeat(10_000)])
    assert.throws(() => engine.call(name, matrix), EngineError);
  refuses("relu", () => engine.call("aten::relu", matrix, 1));
  refuses("relu", () => engine.call("aten::relu"));
  refuses("relu", () => engine.call("aten::relu", ...Array.from({ length: 60 }, () => matrix)));
  refuses("max", () => engine.compute("aten::max.dim", matrix, 0));
});

test("what the device lacks, memory or an operation, is told apart from wrong calls", () => {
  const beyondAddresses = (): Tensor => engine.full([1e7, 1e7], 0); // 400 TB: more than a process can address
  for (const limit of [beyondAddresses, () => engine.call("aten::no_such_operator", matrix)]) assert.throws(limit, DeviceLimitError);
  assert.throws(
    () => engine.call("aten::linalg_inv", matrix),
    (error) => error instanceof EngineError && !(error instanceof DeviceLimitError),
  );
});

test("a tensor of another engine is refused", () => {
  const foreign = { engine: { name: "onnx" }, shape: [4, 5], dtype: "f32" } as unknown as Tensor;
  assert.match(
    refuses("add", () => matrix.add(foreign)),
    /expected a tensor/,
  );
});
