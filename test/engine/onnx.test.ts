import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { over, plus, symbol, type Dim } from "../../src/engine/dims.ts";
import type { Tensor } from "../../src/engine/engine.ts";
import { EngineError, ShapeError } from "../../src/engine/errors.ts";
import { createOnnxEngine, type OnnxEngine } from "../../src/engine/onnx.ts";
import { createNodeSession } from "../../src/infer/node.ts";
import type { Value } from "../../src/infer/session.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { wireInputs, wireNet } from "../helpers/wireNet.ts";

const [B, N, H, W] = [symbol("B"), symbol("N"), symbol("H"), symbol("W")];

/** The fields of one protobuf message: numbers as they are, the rest as bytes. */
function fields(bytes: Uint8Array): Map<number, (number | Uint8Array)[]> {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, (number | Uint8Array)[]>();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const value = type === WireType.Varint ? Number(reader.int64()) : type === WireType.Bit32 ? reader.float() : reader.bytes();
    found.set(field, [...(found.get(field) ?? []), value]);
  }
  return found;
}

const text = (value: number | Uint8Array | undefined): string => new TextDecoder().decode(value as Uint8Array);

/** What a finished graph holds, read back from its bytes. */
function inspect(model: Uint8Array) {
  const root = fields(model);
  const graph = fields(root.get(7)?.[0] as Uint8Array);
  const messages = (field: number): Map<number, (number | Uint8Array)[]>[] =>
    (graph.get(field) ?? []).map((bytes) => fields(bytes as Uint8Array));
  return {
    irVersion: root.get(1)?.[0],
    producer: text(root.get(2)?.[0]),
    operatorSet: fields(root.get(8)?.[0] as Uint8Array).get(2)?.[0],
    operators: messages(1).map((node) => text(node.get(4)?.[0])),
    nodeNames: messages(1).map((node) => text(node.get(3)?.[0])),
    initializers: messages(5).map((tensor) => text(tensor.get(8)?.[0])),
    inputs: messages(11).map((value) => text(value.get(1)?.[0])),
    dimensions: [...messages(11), ...messages(12)].map((value) => {
      const tensor = fields(fields(value.get(2)?.[0] as Uint8Array).get(1)?.[0] as Uint8Array);
      const dims = fields(tensor.get(2)?.[0] as Uint8Array).get(1) ?? [];
      return dims.map((dim) => {
        const entry = fields(dim as Uint8Array);
        return entry.has(1) ? entry.get(1)?.[0] : text(entry.get(2)?.[0]);
      });
    }),
  };
}

async function run(model: Uint8Array, inputs: Record<string, Value>): Promise<Record<string, Value>> {
  const session = await createNodeSession(model, { threads: 1 });
  const results = await session.run(inputs);
  await session.dispose();
  return results;
}

const values = (result: Value | undefined): number[] => Array.from(result?.data as Float32Array);

/** A normal constant of this shape. */
function normal(engine: OnnxEngine, name: string, shape: readonly number[], mean = 0): Tensor {
  const random = createRandom(5).split(name);
  const length = shape.reduce((product, size) => product * size, 1);
  return engine.constant(
    Float32Array.from({ length }, () => mean + 0.2 * random.normal()),
    { shape, name },
  );
}

const batchNormOf = (engine: OnnxEngine, channels: number) => ({
  weight: normal(engine, "norm.weight", [channels], 1),
  bias: normal(engine, "norm.bias", [channels]),
  runningMean: normal(engine, "norm.mean", [channels]),
  runningVariance: normal(engine, "norm.variance", [channels], 2),
  training: false,
  momentum: 0.1,
  epsilon: 1e-5,
});

function recordWireNet(shape: readonly [Dim, Dim, Dim, Dim], multipleOf: Record<string, number> = {}): Uint8Array {
  const engine = createOnnxEngine();
  const [batch, planes, height, width] = shape;
  const images = engine.input("images", [batch, planes, 3, height, width], { multipleOf });
  const focusDistances = engine.input("focusDistances", [batch, planes]);
  return engine.finish({ outputs: wireNet(engine)({ images, focusDistances }) });
}

test("a graph computes what was written down: 2 x + [1, 2, 3]", async () => {
  const engine = createOnnxEngine();
  const x = engine.input("x", [2, 3]);
  const y = x.mul(2).add(engine.constant([1, 2, 3], { shape: [3] }));
  const model = engine.finish({ outputs: { y } });
  const { y: result } = await run(model, { x: { data: Float32Array.of(0, 1, 2, 3, 4, 5), shape: [2, 3] } });
  assert.deepEqual(result?.shape, [2, 3]);
  assert.deepEqual(values(result), [1, 4, 7, 7, 10, 13]);
});

test("the file says who made it, its versions, its inputs and their sizes by name", () => {
  const engine = createOnnxEngine();
  const images = engine.input("images", [B, N, 3, H, W], { multipleOf: { H: 4, W: 4 } });
  const half = images
    .slice(1, { start: 1 })
    .mean([2])
    .maxPool2d({ kernel: [2, 2], stride: [2, 2] });
  const model = inspect(engine.finish({ outputs: { half } }));
  assert.equal(model.producer, "dualfocus");
  assert.equal(model.irVersion, 10);
  assert.equal(model.operatorSet, 21);
  assert.deepEqual(model.inputs, ["images"]);
  assert.deepEqual(model.dimensions, [
    ["B", "N", 3, "H", "W"],
    ["B", "N-1", "H/2", "W/2"],
  ]);
});

test("one graph serves two and five planes, any batch and any size, as graphs of those sizes do", async () => {
  const open = recordWireNet([B, N, H, W], { H: 4, W: 4 });
  for (const [batch, planes, height, width] of [
    [1, 2, 12, 20],
    [2, 5, 24, 8],
  ] as const) {
    const inputs = wireInputs({ batch, planes, height, width });
    const fixed = await run(recordWireNet([batch, planes, height, width]), inputs);
    const results = await run(open, inputs);
    assert.deepEqual(results["depth"]?.shape, [batch, 1, height, width]);
    assertClose(values(results["depth"]), values(fixed["depth"]), 1e-6);
    assertClose(values(results["p"]), values(fixed["p"]), 1e-6);
  }
});

test("a graph of fixed sizes reads no size when it runs", () => {
  assert.ok(!inspect(recordWireNet([1, 3, 16, 16])).operators.includes("Shape"));
  const open = inspect(recordWireNet([B, N, H, W], { H: 4, W: 4 })).operators;
  assert.ok(open.filter((operator) => operator === "Shape").length <= 4, "each size is read once");
});

describe("batch norm", () => {
  const inputs = { x: { data: Float32Array.from({ length: 2 * 3 * 5 * 5 }, (_, i) => Math.sin(i)), shape: [2, 3, 5, 5] } };

  /** conv, then a batch norm; `constant` decides whether the weights are known while recording. */
  const record = (withBias: boolean, folds: boolean): Uint8Array => {
    const engine = createOnnxEngine();
    const x = engine.input("x", [2, 3, 5, 5]);
    const weight = normal(engine, "conv.weight", [4, 3, 3, 3]);
    const bias = withBias ? normal(engine, "conv.bias", [4], 1) : undefined;
    const convolved = x.conv2d(folds ? weight : weight.mul(1), { bias, padding: 1 });
    return engine.finish({ outputs: { y: convolved.batchNorm(batchNormOf(engine, 4)) } });
  };

  for (const withBias of [false, true])
    test(`folds into the convolution before it, ${withBias ? "with" : "without"} bias`, async () => {
      const [folded, apart] = [record(withBias, true), record(withBias, false)];
      assert.deepEqual(inspect(folded).operators, ["Conv", "Identity"]);
      assert.equal(inspect(folded).initializers.length, 2, "the old weights and the statistics are gone");
      assert.ok(inspect(apart).operators.includes("Mul"));
      const [a, b] = [await run(folded, inputs), await run(apart, inputs)];
      assertClose(values(a["y"]), values(b["y"]), 1e-6);
    });

  test("folds into a 3-D convolution", () => {
    const engine = createOnnxEngine();
    const x = engine.input("x", [B, 2, N, 5, 5]);
    const y = x.conv3d(normal(engine, "conv.weight", [4, 2, 3, 3, 3]), { padding: 1 }).batchNorm(batchNormOf(engine, 4));
    assert.deepEqual(inspect(engine.finish({ outputs: { y } })).operators, ["Conv", "Identity"]);
  });

  test("leaves the convolution for those who use it unnormalised", async () => {
    const engine = createOnnxEngine();
    const convolved = engine.input("x", [2, 3, 5, 5]).conv2d(normal(engine, "conv.weight", [4, 3, 1, 1]));
    const model = engine.finish({ outputs: { raw: convolved, y: convolved.batchNorm(batchNormOf(engine, 4)) } });
    assert.equal(inspect(model).operators.filter((operator) => operator === "Conv").length, 2);
    const { raw, y } = await run(model, inputs);
    assert.notDeepEqual(values(raw), values(y));
  });

  test("is one multiplication and one addition where there is no convolution", () => {
    const engine = createOnnxEngine();
    const y = engine.input("x", [2, 3, 5, 5]).relu().batchNorm(batchNormOf(engine, 3));
    const { operators } = inspect(engine.finish({ outputs: { y } }));
    assert.deepEqual(
      operators.filter((operator) => operator !== "Reshape"),
      ["Relu", "Mul", "Add", "Identity"],
    );
  });

  test("is refused while training", () => {
    const engine = createOnnxEngine();
    const x = engine.input("x", [2, 3, 5, 5]);
    assert.throws(() => x.batchNorm({ ...batchNormOf(engine, 3), training: true }), /recorded for inference; pass training: false/);
  });
});

test("nodes and constants that no output needs are left out", () => {
  const engine = createOnnxEngine();
  const x = engine.input("x", [4]);
  x.mul(engine.constant([1, 2, 3, 4], { shape: [4], name: "unused" })).exp();
  const { operators, initializers } = inspect(engine.finish({ outputs: { y: x.add(1) } }));
  assert.deepEqual(operators, ["Add", "Identity"]);
  assert.deepEqual(initializers, ["number_1"]);
});

test("named weights keep their name and give it to their node; a number is stored once", () => {
  const engine = createOnnxEngine();
  const x = engine.input("x", [1, 3, 5, 5]);
  const y = x
    .add(0.5)
    .conv2d(normal(engine, "encoder.conv1.weight", [4, 3, 3, 3]))
    .mul(0.5);
  const { nodeNames, initializers } = inspect(engine.finish({ outputs: { y } }));
  assert.ok(nodeNames.includes("encoder.conv1"));
  assert.deepEqual(initializers.sort(), ["encoder.conv1.weight", "number_0.5"]);
});

test("f16 storage halves the file and keeps the values to f16's precision", async () => {
  const record = (storage: "f32" | "f16"): Uint8Array => {
    const engine = createOnnxEngine();
    const x = engine.input("x", [2, 40]);
    return engine.finish({ outputs: { y: x.linear(normal(engine, "head.weight", [60, 40]), normal(engine, "head.bias", [60])) }, storage });
  };
  const [full, half] = [record("f32"), record("f16")];
  assert.ok(half.length < 0.55 * full.length, `${half.length} of ${full.length} bytes`);
  const inputs = { x: { data: Float32Array.from({ length: 80 }, (_, i) => Math.cos(i)), shape: [2, 40] } };
  const [a, b] = [await run(full, inputs), await run(half, inputs)];
  assertClose(values(b["y"]), values(a["y"]), 1e-3);
  assert.notDeepEqual(values(a["y"]), values(b["y"]));
});

test("an input, a constant or one tensor twice can be outputs", async () => {
  const engine = createOnnxEngine();
  const x = engine.input("x", [2]);
  const model = engine.finish({ outputs: { same: x, again: x, fixed: engine.constant([3], { shape: [1], dtype: "i64" }) } });
  const { same, again, fixed } = await run(model, { x: { data: Float32Array.of(1, 2), shape: [2] } });
  assert.deepEqual(
    [values(same), values(again)],
    [
      [1, 2],
      [1, 2],
    ],
  );
  assert.deepEqual(fixed, { data: BigInt64Array.of(3n), shape: [1], dtype: "i64" });
});

test("shapes are exact while recording", () => {
  const engine = createOnnxEngine();
  const x = engine.input("x", [B, 8, N, over(times4(H), 4), W], { multipleOf: { H: 32, W: 32 } });
  assert.deepEqual(x.slice(2, { start: 1 }).shape[2], plus(N, -1));
  assert.deepEqual(engine.concat([x.slice(2, { start: 1 }), x.slice(2, { start: -1 })], 2).shape[2], N);
  const map = engine.input("map", [B, 3, H, W]);
  const strided = map.conv2d(normal(engine, "w", [4, 3, 7, 7]), { stride: 2, padding: 3 });
  assert.deepEqual(strided.shape, [B, 4, over(H, 2), over(W, 2)]);
  assert.deepEqual(strided.maxPool2d({ kernel: [3, 3], stride: [2, 2], padding: [1, 1] }).shape, [B, 4, over(H, 4), over(W, 4)]);
  assert.deepEqual(map.conv2d(normal(engine, "v", [4, 3, 3, 3])).shape, [B, 4, plus(H, -2), plus(W, -2)]);
});

const times4 = (dim: ReturnType<typeof symbol>): Dim => ({ ...dim, numerator: 4 });

describe("what cannot be recorded is refused:", () => {
  const engine = createOnnxEngine();
  const x = engine.input("x", [B, 3, H, W], { multipleOf: { H: 2 } });
  const fixed = engine.input("fixed", [2, 3, 5, 7]);
  const weight = engine.full([4, 3, 3, 3], 1);
  const cases: [string, () => unknown, RegExp][] = [
    ["shapes that do not broadcast", () => fixed.add(engine.full([4], 1)), /Add\(\[2, 3, 5, 7\], \[4\]\).*do not broadcast/],
    ["an open size against a number", () => x.add(engine.full([5], 1)), /\[B, 3, H, W\] and \[5\] do not broadcast/],
    ["two types", () => fixed.add(engine.full([1], 1, { dtype: "i64" })), /f32 and i64; cast one/],
    ["half an integer", () => fixed.cast("i64").add(0.5), /0\.5 is no i64/],
    ["division of integers", () => fixed.cast("i64").div(2), /division of i64/],
    ["a mean of bools", () => fixed.less(0).mean(), /mean of bool/],
    ["a stride that may not divide", () => x.conv2d(weight, { stride: 4 }), /stride 4 on a length of H.*multipleOf/],
    ["the wrong channels", () => fixed.conv2d(engine.full([4, 2, 3, 3], 1)), /the weight takes 2 channels/],
    ["the wrong rank", () => fixed.conv3d(weight), /need 5 axes/],
    ["the wrong bias", () => fixed.conv2d(weight, { bias: engine.full([3], 1) }), /the bias is \[3\], not \[4\]/],
    ["a window larger than the picture", () => fixed.conv2d(engine.full([1, 3, 9, 9], 1)), /does not fit/],
    ["another count of elements", () => x.reshape([B, 3, times4(H), W]), /reshape: \[B, 3, H, W\] has 3·B·H·W elements, .* has 12·B·H·W/],
    ["an axis that does not exist", () => fixed.softmax(4), /axis 4 does not exist in a tensor of rank 4/],
    ["an axis twice", () => fixed.permute([0, 1, 1, 2]), /exactly once/],
    ["squeezing what is longer", () => fixed.squeeze(1), /not of length 1/],
    ["an empty slice", () => fixed.slice(1, { start: 3 }), /nothing is left/],
    ["a slice of unknown length", () => x.slice(2, { start: -1, end: 3 }), /no length known in advance/],
    ["expanding what is longer", () => fixed.expand([2, 6, 5, 7]), /do not broadcast/],
    ["reflecting past the far side", () => fixed.pad([[0, 0], [3, 0], [0, 0], [0, 0]], { mode: "reflect" }), /cannot reflect 3/], // prettier-ignore
    ["padding too few axes", () => fixed.pad([[1, 1]]), /1 pairs of amounts for 4 axes/],
    ["concat of other shapes", () => engine.concat([fixed, x], 0), /differ in more than axis 0/],
    ["concat of nothing", () => engine.concat([], 0), /no tensors/],
    ["matrices that do not fit", () => fixed.matmul(fixed), /inner sizes differ/],
    ["solving", () => fixed.solve(fixed), /ONNX has no operator that solves/],
    ["channels that do not split", () => fixed.groupNorm({ groups: 2, weight, bias: weight, epsilon: 1 }), /multiple of the groups/],
    ["where without bools", () => fixed.where(fixed, 1), /not bool/],
    ["too few values", () => engine.constant([1], { shape: [2] }), /\[2\] needs 2 values, got 1/],
    ["a tensor of another graph", () => fixed.add(createOnnxEngine().full([1], 1)), /another graph/],
    ["an input twice", () => engine.input("x", [1]), /a value called x already/],
    ["an input with a computed size", () => engine.input("y", [over(H, 2)]), /a number or a plain symbol, got H\/2/],
    ["a multiple of nothing", () => engine.input("z", [B], { multipleOf: { Q: 2 } }), /names Q/],
    ["a size of no input", () => engine.full([symbol("Q")], 1), /Q belongs to no input/],
    ["no outputs", () => engine.finish({ outputs: {} }), /at least one output/],
    ["an output called as an input", () => engine.finish({ outputs: { x: fixed } }), /x is already a value/],
  ];
  for (const [name, body, message] of cases)
    test(name, () => {
      assert.throws(body, (error: unknown) => {
        assert.ok(error instanceof ShapeError || error instanceof EngineError, String(error));
        assert.match(error.message, message);
        return true;
      });
    });
});
