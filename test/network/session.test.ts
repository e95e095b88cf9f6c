import assert from "node:assert/strict";
import { test } from "node:test";
import { symbol } from "../../src/engine/dims.ts";
import { EngineError } from "../../src/engine/errors.ts";
import { createOnnxEngine } from "../../src/engine/onnx/onnxEngine.ts";
import { createOnnxSession } from "../../src/network/node/onnxSession.ts";

function model(): Uint8Array {
  const engine = createOnnxEngine();
  const x = engine.input("x", [symbol("B"), 2]);
  const scale = engine.input("scale", []);
  return engine.finish({ outputs: { product: x.mul(scale), isLarge: x.greater(1), index: x.argmax(1) } });
}

const good = { x: { data: Float32Array.of(1, 2, 4, 3), shape: [2, 2] }, scale: { data: Float32Array.of(10), shape: [] } };

test("a session runs a graph again and again, results in the graph's types", async () => {
  const session = await createOnnxSession(model(), { threads: 1 });
  assert.equal(session.device, "cpu");
  assert.deepEqual(session.inputNames, ["x", "scale"]);
  assert.deepEqual(session.outputNames, ["product", "isLarge", "index"]);
  for (let round = 0; round < 3; round++) {
    const { product, isLarge, index } = await session.run(good);
    assert.deepEqual(product, { data: Float32Array.of(10, 20, 40, 30), shape: [2, 2], dtype: "f32" });
    assert.deepEqual(isLarge, { data: Uint8Array.of(0, 1, 1, 1), shape: [2, 2], dtype: "bool" });
    assert.deepEqual(index, { data: BigInt64Array.of(1n, 0n), shape: [2], dtype: "i64" });
  }
  await session.dispose();
});

test("half floats go in and come out as their bits", async () => {
  const engine = createOnnxEngine();
  const x = engine.input("x", [2], { dtype: "f16" });
  const session = await createOnnxSession(engine.finish({ outputs: { y: x.cast("f32").mul(2).cast("f16") } }), { threads: 1 });
  const { y } = await session.run({ x: { data: Uint16Array.of(0x3c00, 0xc000), shape: [2] } }); // 1, -2
  assert.equal(y?.dtype, "f16");
  assert.deepEqual([...new Uint16Array(y.data.buffer, y.data.byteOffset, 2)], [0x4000, 0xc400]); // 2, -4
  await session.dispose();
});

test("a session may be freed twice; then it runs no more", async () => {
  const session = await createOnnxSession(model(), { threads: 1 });
  await Promise.all([session.dispose(), session.dispose()]);
  await session.dispose();
  await assert.rejects(session.run(good), EngineError);
});

test("wrong inputs are refused by name", async () => {
  const session = await createOnnxSession(model(), { threads: 1 });
  const fails = async (inputs: Parameters<typeof session.run>[0], message: RegExp): Promise<void> => {
    await assert.rejects(session.run(inputs), (error: unknown) => error instanceof EngineError && message.test(error.message));
  };
  await fails({ x: good.x }, /scale is missing; the graph's inputs are x, scale/);
  await fails({ ...good, y: good.x }, /y is not an input of the graph/);
  await fails({ ...good, x: { data: good.x.data, shape: [3, 2] } }, /x is \[3, 2\], which needs 6 values, got 4/);
  await fails({ ...good, x: { data: good.x.data, shape: [1, 4] } }, /run: ONNX Runtime:.*x/s);
  await fails({ ...good, x: { data: new Float64Array(4), shape: [2, 2] } }, /run: ONNX Runtime:/);
  await fails({ ...good, x: { data: new Uint16Array(4), shape: [2, 2], dtype: "bf16" } }, /x is bf16, which ONNX Runtime does not accept/);
  await session.dispose();
});

test("bytes that are no graph are refused with the device named", async () => {
  await assert.rejects(createOnnxSession(new Uint8Array([1, 2, 3])), /EngineError: loading the graph on cpu: ONNX Runtime:/);
});
