import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { symbol } from "../../../src/engine/dims.ts";
import { createOnnxEngine } from "../../../src/engine/onnx/onnxEngine.ts";
import { assertClose } from "../../helpers/close.ts";
import { batchNormOf, inspect, normal, run, values } from "../recorded.ts";

const [B, N] = [symbol("B"), symbol("N")];

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
