import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createCudaSession } from "../../src/network/node/cudaSession.ts";
import { focusProbability } from "../../src/network/focusProbability.ts";
import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import type { Session } from "../../src/network/session.ts";
import { recordGraph } from "../../src/model/graph.ts";
import { assertClose } from "../helpers/close.ts";
import { randomImages, randomWeights, tiny, tinyWithImages } from "../helpers/network.ts";

const engine = createTorchEngine({ threads: 2 });
const model = { config: tiny, weights: randomWeights(engine, tiny) };
const seeing = { config: tinyWithImages, weights: randomWeights(engine, tinyWithImages) };
const open = (opened = model): Session => createCudaSession(opened, { device: "cpu", precision: "f32" });

const stack = (N: number, [H, W]: readonly [number, number]) => ({
  images: { data: randomImages({ B: 1, N, H, W }), shape: [1, N, 3, H, W] },
  focusDistances: { data: Float32Array.from({ length: N }, (_, n) => n), shape: [1, N] },
});

test("the arranged network answers as ONNX Runtime does, size after size", async () => {
  for (const each of [model, seeing]) {
    const [ours, theirs] = [open(each), await createOnnxSession(recordGraph(each), { threads: 1 })];
    for (const inputs of [stack(3, [32, 64]), stack(2, [64, 32]), stack(3, [32, 64])]) {
      const [got, want] = [await ours.run(inputs), await theirs.run(inputs)];
      assert.deepEqual(Object.keys(got), [...ours.outputNames]);
      for (const name of ours.outputNames) {
        assert.deepEqual(got[name]?.shape, want[name]?.shape);
        assertClose(got[name]?.data as Float32Array, want[name]?.data as Float32Array, 1e-4);
      }
    }
    await Promise.all([ours.dispose(), theirs.dispose()]);
  }
});

test("bytes give what their values over 255 give", async () => {
  const session = open();
  const { images, focusDistances } = stack(2, [32, 32]);
  const bytes = Uint8Array.from(images.data, (value) => Math.round(255 * value));
  const values = Float32Array.from(bytes, (byte) => byte / 255);
  const [fromBytes, fromValues] = [
    await session.run({ images: { data: bytes, shape: images.shape }, focusDistances }),
    await session.run({ images: { data: values, shape: images.shape }, focusDistances }),
  ];
  assertClose(fromBytes["probability"]?.data as Float32Array, fromValues["probability"]?.data as Float32Array, 1e-5);
  await session.dispose();
});

/** How far depth in half precision is from f32's, in planes; mean over the pixels. */
async function halfDeviation(opened: typeof model): Promise<{ readonly f16: number; readonly bf16: number }> {
  const inputs = stack(3, [64, 32]);
  const images = { ...inputs.images, data: Uint8Array.from(inputs.images.data, (value) => Math.round(255 * value)) };
  const depth = async (precision: "f32" | "f16" | "bf16"): Promise<Float32Array> => {
    const session = createCudaSession(opened, { device: "cpu", precision });
    const result = await session.run({ ...inputs, images });
    await session.dispose();
    return result["depth"]?.data as Float32Array;
  };
  const exact = await depth("f32");
  const apart = async (precision: "f16" | "bf16"): Promise<number> => {
    const half = await depth(precision);
    return exact.reduce((sum, value, i) => sum + Math.abs(value - (half[i] as number)), 0) / exact.length;
  };
  return { f16: await apart("f16"), bf16: await apart("bf16") };
}

test("half precision stays near f32: f16 to a few thousandths of a plane, bf16 to a hundredth", async () => {
  const { f16, bf16 } = await halfDeviation(model);
  // 0.0021 and 0.0083 on every processor tried, to four digits: the sums are f32's, and what is rounded to halves is the same everywhere.
  assert.ok(f16 > 0 && f16 < 0.003, `${f16} planes apart`);
  assert.ok(bf16 > f16 && bf16 < 0.012, `${bf16} planes apart`);
});

test("a decoder that looks at the images is as near in half precision: detail is computed in f32", async (t) => {
  const { f16, bf16 } = await halfDeviation(seeing);
  t.diagnostic(`${f16} ${bf16}`);
  assert.ok(f16 > 0 && f16 < 0.004, `${f16} planes apart`);
  assert.ok(bf16 > f16 && bf16 < 0.02, `${bf16} planes apart`);
});

for (const [name, each] of Object.entries({ "the paper's": model, ours: seeing }))
  test(`planes encoded once give the same windows as planes run again, until others are encoded (${name})`, async () => {
    const session = open(each);
    const { images } = stack(12, [32, 32]);
    const decode = await session.encode?.(images);
    assert.ok(decode);
    for (const planes of [
      [0, 1, 2],
      [3, 7, 11],
    ]) {
      // prettier-ignore
      const area = 3 * 32 * 32;
      const data = Float32Array.from(planes.flatMap((n) => [...images.data.subarray(n * area, (n + 1) * area)]));
      const again = { images: { data, shape: [1, 3, 3, 32, 32] }, focusDistances: { data: Float32Array.of(0, 1, 2), shape: [1, 3] } };
      assertClose(await decode(planes), (await session.run(again))["probability"]?.data as Float32Array, 1e-4);
    }
    await session.encode?.(images);
    await assert.rejects(decode([0, 1]), /other planes have been encoded since/);
    await session.dispose();
  });

test("a stack of more planes than a run takes is encoded once, and comes out as from a session that cannot", async () => {
  const session = open();
  const without = Object.fromEntries(Object.entries(session).filter(([name]) => name !== "encode")) as unknown as Session;
  const [N, side] = [14, 32];
  const data = randomImages({ B: 1, N, H: side, W: side });
  const images = Array.from({ length: N }, (__, n) => ({
    width: side,
    height: side,
    channels: 1 as const,
    data: data.slice(3 * n * side * side, (3 * n + 1) * side * side),
  }));
  const focal = { images, focusDistances: images.map((__, n) => n + 1), space: "depth" as const };
  const [got, want] = [await focusProbability(focal, { session }), await focusProbability(focal, { session: without })];
  assertClose(got.values, want.values, 1e-4);
  await session.dispose();
});

test("wrong inputs are named, and the session goes on", async () => {
  const session = open();
  const { images, focusDistances } = stack(2, [32, 32]);
  await assert.rejects(session.run({ images }), /got images; the network's inputs are images, focusDistances/);
  await assert.rejects(session.run({ images: { ...images, shape: [2, 3, 32, 32] }, focusDistances }), /not \[B, N, 3, H, W\]/);
  await assert.rejects(
    session.run({ images, focusDistances: { data: Float32Array.of(1), shape: [1, 1] } }),
    /not \[1, 2\] as the images are/,
  );
  await assert.rejects(
    session.run({ images: { data: new Float64Array(images.data), shape: images.shape }, focusDistances }),
    /Float64Array/,
  );
  const odd = stack(2, [40, 32]);
  await assert.rejects(session.run(odd), /the height must be a multiple of 32, got 40/);
  assert.equal((await session.run({ images, focusDistances }))["depth"]?.data.length, 32 * 32);
  await session.dispose();
});

test("a stack in two sizes, in batches of up to eight, is prepared for once each", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const session = open();
  const run = async (B: number, W: number): Promise<void> => {
    const { images, focusDistances } = stack(2, [32, W]);
    const repeated = (data: Float32Array): Float32Array =>
      Float32Array.from({ length: B * data.length }, (_, i) => data[i % data.length] as number);
    await session.run({
      images: { data: repeated(images.data), shape: [B, ...images.shape.slice(1)] },
      focusDistances: { data: repeated(focusDistances.data), shape: [B, 2] },
    });
  };
  const live = async (): Promise<number> => {
    await setImmediate();
    collect(); // tensors of other tests that nothing holds any more
    await setImmediate();
    return engine.liveTensors();
  };
  await run(1, 96); // what all sizes share is made by the first
  const before = await live();
  for (const B of [1, 2, 4, 8]) for (const W of [32, 64]) await run(B, W);
  assert.equal((await live()) - before, 7 * 2, "inputs of eight shapes, one of them in place of the first");
  await session.dispose();
});

test("a session gives all its tensors back", async () => {
  const before = engine.liveTensors();
  const session = open();
  await session.run(stack(2, [32, 32]));
  await session.encode?.(stack(3, [32, 32]).images);
  await session.dispose();
  assert.ok(engine.liveTensors() - before < 30, `${engine.liveTensors() - before} tensors are left`);
});
