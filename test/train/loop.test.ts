import assert from "node:assert/strict";
import { test } from "node:test";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createClock, DivergedError, train, type BatchSource, type LogEntry, type Run } from "../../src/train/loop.ts";
import { smoke } from "../../src/train/presets.ts";
import { createTrainer } from "../../src/train/trainer.ts";
import type { TrainConfig } from "../../src/train/config.ts";
import { syntheticBatches } from "./synthetic.ts";

const engine = createTorchEngine({ threads: 1 });
const config: TrainConfig = { ...smoke, logEvery: 20, evaluateEvery: 1000, learningRate: { from: 3e-3, to: 1e-4, warmUpSteps: 10 } };

interface Trial {
  readonly steps: number;
  readonly batches?: BatchSource;
  readonly run?: Partial<Run>;
  readonly changes?: Partial<TrainConfig>;
}

async function trial({ steps, batches = syntheticBatches(engine), run = {}, changes = {} }: Trial) {
  const log: LogEntry[] = [];
  const saved: number[] = [];
  const trainer = createTrainer({ engine, config });
  const step = await train(
    { ...config, ...changes },
    {
      trainer,
      batches,
      clock: createClock({ steps }, { now: () => performance.now() / 1000, before: 0 }),
      from: 0,
      evaluate: () => ({ rmse: 0 }),
      log: (entry) => log.push(entry),
      save: (at) => Promise.resolve(void saved.push(at)),
      stop: new AbortController().signal,
      ...run,
    },
  );
  return { step, log, saved, trainer };
}

test("200 steps lower the loss as the recorded trace says", async () => {
  const { log } = await trial({ steps: 200 });
  const trace = log.filter(({ total }) => total !== undefined).map(({ step, total }) => [step, total] as const);
  // Recorded here, once; later values drift apart between processors, as rounding does.
  const golden = [
    [20, 0.954615, 0.02],
    [40, 0.283595, 0.05],
    [100, 0.0394137, 0.2],
    [200, 0.0166848, 0.3],
  ] as const;
  for (const [step, expected, relative] of golden) {
    const total = trace.find(([at]) => at === step)?.[1] ?? NaN;
    assert.ok(Math.abs(total - expected) <= relative * expected, `step ${step}: ${total}, recorded ${expected}`);
  }
});

test("a loss that is no number ends the run before anything is saved", async () => {
  const good = syntheticBatches(engine);
  const batches: BatchSource = {
    async batch(step) {
      const batch = await good.batch(step);
      return step === 3 ? { ...batch, trueDepth: batch.trueDepth.mul(NaN) } : batch;
    },
  };
  const saved: number[] = [];
  const save = (step: number): Promise<void> => Promise.resolve(void saved.push(step));
  await assert.rejects(
    trial({ steps: 10, batches, run: { save } }),
    (error) => error instanceof DivergedError && /NaN/.test(error.message),
  );
  assert.deepEqual(saved, []);
});

test("a stop saves where the run stands and evaluates no more", async () => {
  const stop = new AbortController();
  const good = syntheticBatches(engine);
  const batches: BatchSource = {
    batch(step) {
      if (step === 4) stop.abort();
      return good.batch(step);
    },
  };
  const { step, saved, log } = await trial({ steps: 100, batches, run: { stop: stop.signal } });
  assert.equal(step, 5);
  assert.deepEqual(saved, [5]);
  assert.deepEqual(
    log.map((entry) => entry.step),
    [5],
  );
});

test("an evaluation that a stop cuts short is not logged, and the run is saved", async () => {
  const stop = new AbortController();
  const evaluate = (): undefined => {
    stop.abort();
  };
  const { step, saved, log } = await trial({ steps: 100, run: { stop: stop.signal, evaluate }, changes: { evaluateEvery: 3 } });
  assert.deepEqual([step, saved], [3, [3]]);
  assert.deepEqual(
    log.map((entry) => [entry.step, "total" in entry]),
    [[3, true]],
  );
});

test("a clock by minutes counts the seconds before a resume and ends on time", () => {
  let now = 100;
  const clock = createClock({ minutes: 1 }, { now: () => now, before: 30 });
  assert.equal(clock.progress(0), 0.5);
  now = 115;
  assert.deepEqual([clock.seconds(), clock.progress(1)], [45, 0.75]);
  now = 200;
  assert.equal(clock.progress(2), 1);
});

test("training leaves no tensors behind", async () => {
  await trial({ steps: 2 });
  const { trainer } = await trial({ steps: 1 });
  const before = engine.liveTensors();
  const batches = syntheticBatches(engine);
  for (let step = 2; step < 30; step++) {
    const batch = await batches.batch(step);
    trainer.step(batch, { step, rate: 1e-3 });
    for (const tensor of [batch.images, batch.focusDistances, batch.trueDepth, batch.valid]) tensor.dispose();
  }
  trainer.takeLosses();
  assert.ok(engine.liveTensors() <= before, `${before} tensors became ${engine.liveTensors()}`); // fewer: earlier trials are collected
});
