import assert from "node:assert/strict";
import { test } from "node:test";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createAdam } from "../../src/train/adam.ts";
import { clipGradients } from "../../src/train/clip.ts";
import { createEma } from "../../src/train/ema.ts";
import { cosineRate } from "../../src/train/schedule.ts";
import { assertClose } from "../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });
const config = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

test("three steps of Adam follow the trace worked by hand", () => {
  // p = 1, rate 0.1, g = 0.5, −0.25, 1.
  // t=1: m̂ = 0.5, v̂ = 0.25: the first step is the whole rate, whatever the gradient. p = 0.9
  // t=2: m = 0.045 − 0.025 = 0.02, m̂ = 0.02 / 0.19;  v = 0.00024975 + 0.0000625, v̂ = 0.00031225 / 0.001999;  p −= 0.1 · 0.26633653
  // t=3: m = 0.018 + 0.1 = 0.118, m̂ = 0.118 / 0.271; v = 0.00031193775 + 0.001, v̂ = 0.00131193775 / 0.002997001; p −= 0.1 · 0.65811082
  const p = engine.constant([1], { shape: [1] });
  const adam = createAdam(engine, new Map([["p", p]]), config);
  const trace = [0.5, -0.25, 1].map((gradient, i) =>
    scope(() => {
      adam.prepare({ step: i + 1, rate: 0.1 });
      adam.apply([engine.constant([gradient], { shape: [1] })]);
      return engine.item(p);
    }),
  );
  assertClose(trace, [0.9, 0.87336635, 0.80755527], 1e-6);
});

test("gradients are scaled to the greatest norm together, and left alone below it", () => {
  const gradients = [engine.constant([3, 0], { shape: [2] }), engine.constant([[4]].flat(), { shape: [1, 1] })];
  assert.equal(engine.item(clipGradients(engine, gradients, 1)), 5);
  assertClose(engine.read(gradients[0] as never) as Float32Array, [0.6, 0], 1e-6);
  assertClose(engine.read(gradients[1] as never) as Float32Array, [0.8], 1e-6);
  clipGradients(engine, gradients, 2);
  assertClose(engine.read(gradients[1] as never) as Float32Array, [0.8], 1e-6);
});

test("averages follow the weights, faster while young, and stand in for them during an evaluation", async () => {
  const w = engine.constant([1, 1], { shape: [2] });
  const ema = createEma(engine, new Map([["w", w]]), { decay: 0.9, every: 1 });
  engine.write(w, Float32Array.from([2, 3]));
  ema.update(1); // stays = 2/11
  const average = ema.averages.get("w");
  assert.ok(average);
  assertClose(engine.read(average) as Float32Array, [2 - 2 / 11, 3 - 4 / 11], 1e-6);
  const seen = await ema.withAverages(() => Promise.resolve(engine.read(w) as Float32Array));
  assertClose(seen, [2 - 2 / 11, 3 - 4 / 11], 1e-6);
  assert.deepEqual([...(engine.read(w) as Float32Array)], [2, 3]);
  await assert.rejects(ema.withAverages(() => Promise.reject(new Error("stop"))));
  assert.deepEqual([...(engine.read(w) as Float32Array)], [2, 3]);
});

test("the rate warms up linearly and falls by a cosine", () => {
  const schedule = { from: 1, to: 0.1, warmUpSteps: 4 };
  assertClose(
    [
      cosineRate(schedule, { progress: 0, step: 0 }),
      cosineRate(schedule, { progress: 0, step: 3 }),
      cosineRate(schedule, { progress: 0.5, step: 100 }),
      cosineRate(schedule, { progress: 1, step: 200 }),
      cosineRate(schedule, { progress: 1.5, step: 300 }),
    ],
    [0.25, 1, 0.55, 0.1, 0.1],
    1e-12,
  );
});
