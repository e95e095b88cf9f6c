import assert from "node:assert/strict";
import { test } from "node:test";

import { symbol } from "../../../src/engine/dims.ts";
import type { Tensor } from "../../../src/engine/engine.ts";
import { createOnnxEngine, type OnnxEngine } from "../../../src/engine/onnx/onnxEngine.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";
import { batchNormOf, inspect, normal, run } from "../recorded.ts";

const [N, C, H, W] = [4, 3, 5, 6];
const random = createRandom(8);
const pictures = { data: Float32Array.from({ length: N * C * H * W }, () => random.normal()), shape: [N, C, H, W] };

/** Records `body` on the volume of the pictures [N, C, H, W], batch 1. */
function record(
  planeByPlane: boolean,
  body: (volume: Tensor, engine: OnnxEngine) => Tensor,
): { engine: OnnxEngine; result: Tensor; model: Uint8Array } {
  const engine = createOnnxEngine({ planeByPlane });
  const volume = engine.input("pictures", [N, C, H, W]).reshape([1, N, C, H, W]).permute([0, 2, 1, 3, 4]); // prettier-ignore
  const result = body(volume, engine);
  return { engine, result, model: engine.finish({ outputs: { result } }) };
}

/** Both ways give the same; returns the operators of the plane-by-plane graph. */
async function agree(body: (volume: Tensor, engine: OnnxEngine) => Tensor): Promise<readonly string[]> {
  const [plain, planes] = [record(false, body), record(true, body)];
  assert.deepEqual(planes.result.shape, plain.result.shape);
  const [want, got] = await Promise.all([plain, planes].map(({ model }) => run(model, { pictures })));
  assertClose(got?.["result"]?.data as Float32Array, want?.["result"]?.data as Float32Array, 1e-5);
  return inspect(planes.model).operators;
}

test("a convolution of a volume, its norm, a residual and an activation are the same plane by plane", async () => {
  const operators = await agree((volume, engine) => {
    const weight = normal(engine, "weight", [C, C, 3, 3, 3]);
    return volume.conv3d(weight, { padding: 1 }).batchNorm(batchNormOf(engine, C)).add(volume).relu(); // prettier-ignore
  });
  const count = (name: string): number => operators.filter((operator) => operator === name).length;
  assert.deepEqual([count("Conv"), count("Add"), count("Relu")], [10, 10, 4], "3·4 − 2 taps, one sum each (the residual first)");
});

test("a convolution spends nothing on planes that are not there: 13 of 15 taps with 5 planes", () => {
  const work = (planeByPlane: boolean): number => {
    const engine = createOnnxEngine({ planeByPlane });
    const volume = engine.input("x", [1, 5, 2, 4, 4]).permute([0, 2, 1, 3, 4]);
    return engine.multiplyAccumulates([volume.conv3d(normal(engine, "weight", [6, 2, 3, 3, 3]), { padding: 1 })]);
  };
  assert.equal(work(false), 5 * 16 * 6 * 2 * 27);
  assert.equal(work(true), 13 * 16 * 6 * 2 * 9);
});

test("a map that all planes share is added plane by plane, so that the convolution after it is one of images", async () => {
  const operators = await agree((volume, engine) => {
    const shared = volume.sub(volume.max(2, { keepAxes: true })); // e_n / max_m e_m in logarithms
    const context = volume.mean([2]).unsqueeze(2);
    return shared.add(context).conv3d(normal(engine, "weight", [2, C, 3, 3, 3]), { padding: 1 });
  });
  assert.equal(operators.filter((operator) => operator === "Conv").length, 10, "3·4 − 2 taps in place of one 3-D convolution");
});

test("differences, concatenations, resizing and numbers are the same plane by plane", async () => {
  const operators = await agree((volume, engine) => {
    const change = volume.slice(2, { start: 1 }).sub(volume.slice(2, { end: -1 }));
    const ends = engine.concat([change, change.slice(2, { start: -1 })], 2);
    const both = engine.concat([volume, ends.mul(2).leakyRelu(0.1)], 1).resize2d([2 * H, 2 * W], "bilinear");
    return both.conv3d(normal(engine, "weight", [2, 2 * C, 1, 1, 1]), { bias: normal(engine, "bias", [2]) });
  });
  assert.ok(!operators.includes("Slice") && !operators.includes("Transpose"), operators.join());
});

test("what has no way plane by plane takes the volume as a whole", async () => {
  await agree((volume, engine) => volume.conv3d(normal(engine, "weight", [C, C, 3, 3, 3])).softmax(1)); // no padding
  await agree((volume) => volume.sum([1]).add(volume.mean([1, 2, 3, 4])));
});

test("with an unknown number of planes, and without being asked, nothing changes", () => {
  const graph = (planeByPlane: boolean, planes: number | undefined): readonly string[] => {
    const engine = createOnnxEngine({ planeByPlane });
    const count = planes ?? symbol("N");
    const volume = engine.input("x", [1, count, 2, 4, 4]).permute([0, 2, 1, 3, 4]);
    return inspect(engine.finish({ outputs: { y: volume.conv3d(normal(engine, "weight", [2, 2, 3, 3, 3]), { padding: 1 }) } })).operators;
  };
  assert.deepEqual(graph(true, undefined), graph(false, 3));
  assert.deepEqual(graph(false, 3), ["Transpose", "Conv", "Identity"]);
});

test("a wrong weight is refused in the same words", () => {
  const refuse = (planeByPlane: boolean) => () => record(planeByPlane, (volume, engine) => volume.conv3d(normal(engine, "weight", [2, C + 1, 3, 3, 3]), { padding: 1 })); // prettier-ignore
  for (const planeByPlane of [false, true]) assert.throws(refuse(planeByPlane), /the weight takes 4 channels/);
});
