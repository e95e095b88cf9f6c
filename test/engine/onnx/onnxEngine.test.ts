import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { over, plus, symbol, type Dim } from "../../../src/engine/dims.ts";
import { EngineError, ShapeError } from "../../../src/engine/errors.ts";
import { createOnnxEngine } from "../../../src/engine/onnx/onnxEngine.ts";
import { assertClose } from "../../helpers/close.ts";
import { wireInputs, wireNet } from "../../helpers/wireNet.ts";
import { inspect, normal, run, values } from "../recorded.ts";

const [B, N, H, W] = [symbol("B"), symbol("N"), symbol("H"), symbol("W")];

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
    return engine.finish({
      outputs: { y: x.matmul(normal(engine, "head.weight", [40, 60])).add(normal(engine, "head.bias", [60])) },
      storage,
    });
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
    ["half an integer", () => fixed.cast("i64").add(0.5), /0\.5 is not a value of type i64/],
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
    ["squeezing what is longer", () => fixed.squeeze(1), /does not have length 1/],
    ["an empty slice", () => fixed.slice(1, { start: 3 }), /is empty/],
    ["a slice of unknown length", () => x.slice(2, { start: -1, end: 3 }), /no length known in advance/],
    ["expanding what is longer", () => fixed.expand([2, 6, 5, 7]), /do not broadcast/],
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
    [
      "an input with a size computed from no input's",
      () => engine.input("y", [over(symbol("Q"), 2)]),
      /made of earlier inputs' symbols, got Q\/2/,
    ],
    ["a multiple of nothing", () => engine.input("z", [B], { multipleOf: { Q: 2 } }), /names Q/],
    ["a size of no input", () => engine.full([symbol("Q")], 1), /Q does not belong to any input/],
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
