import assert from "node:assert/strict";
import { test } from "node:test";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Network } from "../../src/model/network.ts";
import { evaluate } from "../../src/train/evaluate.ts";
import { smoke } from "../../src/train/presets.ts";
import { formatReport } from "../../src/train/report.ts";
import type { TrainBatch } from "../../src/train/batch.ts";
import { createTrainer } from "../../src/train/trainer.ts";
import { syntheticBatches } from "./synthetic.ts";

const engine = createTorchEngine({ threads: 1 });

test("metrics of a prediction worked by hand, over valid pixels alone", async () => {
  // Four pixels, three planes. Errors 0.2, 0.5, 1, and one that does not count; p is unimodal, wrong, unimodal, wrong.
  const p = [
    [0.8, 0.4, 0.1, 0.4],
    [0.2, 0.2, 0.3, 0.2],
    [0.0, 0.4, 0.6, 0.4],
  ];
  const network: Network = {
    forward: () => ({
      depth: engine.constant([0.2, 1, 1, 9], { shape: [1, 1, 2, 2] }),
      focusProbability: engine.constant(p.flat(), { shape: [1, 3, 2, 2] }),
      spatial: undefined,
      coarser: [],
    }),
  };
  const trainer = { ...createTrainer({ engine, config: smoke }), network };
  const batch: TrainBatch = {
    images: engine.full([1, 3, 3, 2, 2], 0),
    focusDistances: engine.constant([0, 1, 2], { shape: [1, 3] }),
    trueDepth: engine.constant([0, 0.5, 2, 0], { shape: [1, 1, 2, 2] }),
    valid: engine.constant([1, 1, 1, 0], { shape: [1, 1, 2, 2] }),
  };
  const { rmse, mae, within, invalidTrend } = await evaluate({ engine, trainer, precision: "f32" }, [batch]);
  assert.ok(Math.abs(rmse - Math.sqrt((0.04 + 0.25 + 1) / 3)) < 1e-6);
  assert.ok(Math.abs(mae - 1.7 / 3) < 1e-6);
  assert.deepEqual([within, invalidTrend], [1 / 3, 1 / 3]);
});

test("a stop ends an evaluation between two batches, with the weights back in place and nothing left on the device", async () => {
  const trainer = createTrainer({ engine, config: smoke });
  const [weight, average] = [[...trainer.tree.state.values()][0], [...trainer.ema.averages.values()][0]];
  assert.ok(weight && average);
  const values = [...engine.read(weight)];
  engine.compute("aten::fill_.Scalar", average, 0.25).dispose();
  const [stop, good] = [new AbortController(), syntheticBatches(engine)];
  let read = 0;
  async function* batches(): AsyncGenerator<TrainBatch> {
    for (; ; read++) yield await good.batch(read);
  }
  setImmediate(() => {
    stop.abort(); // as a signal does, which comes from outside
  });
  const before = engine.liveTensors();
  const evaluation = evaluate({ engine, trainer, precision: "f32", stop: stop.signal }, batches());
  await assert.rejects(evaluation, (error) => error === stop.signal.reason);
  assert.ok(read < 3, `${read} batches`);
  assert.deepEqual([...engine.read(weight)], values);
  assert.ok(engine.liveTensors() <= before, `${before} tensors became ${engine.liveTensors()}`);
});

test("a report holds its curves and pictures, and nothing from outside", () => {
  const entries = [
    { step: 1, seconds: 1, total: 1, depth: 0.5, spatial: 0.1, focal: 0, rate: 1e-3, stacksPerSecond: 10 },
    { step: 2, seconds: 2, total: 0.1, depth: 0.05, spatial: 0.01, focal: 0.001, rate: 1e-4, stacksPerSecond: 12 },
    { step: 2, seconds: 2, "rmse@5": 0.4 },
  ];
  const grey = { width: 1, height: 1, channels: 1 as const, data: Float32Array.of(0.5) };
  const examples = [{ name: "one", picture: grey, truth: grey, prediction: grey, error: grey }];
  const page = formatReport({ title: "a <run>", facts: [["steps", "2"]], entries, examples });
  assert.match(page, /a &#60;run&#62;/);
  assert.equal(page.match(/<img /g)?.length, 4);
  assert.ok((page.match(/<polyline /g)?.length ?? 0) >= 7);
  assert.doesNotMatch(page, /https?:\/\/|NaN|Infinity|undefined/);
});
