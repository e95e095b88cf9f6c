// Training speed: stacks per second of the whole step (forward, losses, backward, clipping, Adam, averages) by one network in one run: on a
// fixed batch, on the batches of the rendered recipe and, with --data, on those of a set from files. `ofRendered` is the data's share of
// the rendered recipe's speed.
//   node --import tsx bench/train.ts [--device cuda] [--models base,small,dfv] [--batch-size 20] [--planes 5] [--size 224] [--steps 30]
//     [--pool 240] [--data DIR] [--kind nyu] [--parts detail=6,context=16,convex=24]
import { scope } from "../src/engine/scope.ts";
import { createTorchEngine } from "../src/engine/torch/torchEngine.ts";
import { createRandom } from "../src/random.ts";
import { disposeBatch, type TrainBatch } from "../src/train/batch.ts";
import { checkConfig, type TrainConfig } from "../src/train/config.ts";
import { nyu, render } from "../src/train/presets.ts";
import { openSource } from "../src/train/source.ts";
import { createTrainer } from "../src/train/trainer.ts";
import { networkOf } from "./parts.ts";
import { option } from "./timing.ts";

const device = option("device", "cpu");
const [batch, planes, size, steps, pool] = ["batch-size", "planes", "size", "steps", "pool"].map((name, i) =>
  Number(option(name, String([20, 5, 224, 30, 240][i]))),
) as [number, number, number, number, number];
const data = option("data", "");
const engine = createTorchEngine({ device });
if (device !== "cpu") engine.fastMath({ tf32: false, cudnnBenchmark: true }); // as a run has it

type NextBatch = (step: number) => TrainBatch | Promise<TrainBatch>;

/** One batch of noise, again and again. */
function fixed(): NextBatch {
  const random = createRandom(1);
  const constant = (shape: readonly number[], value: (i: number) => number) =>
    engine.constant(
      Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => value(i)),
      { shape },
    );
  const stacks = {
    images: constant([batch, planes, 3, size, size], () => random.uniform()),
    focusDistances: constant([batch, planes], (i) => i % planes),
    trueDepth: constant([batch, 1, size, size], () => random.uniform() * (planes - 1)),
    valid: engine.full([batch, 1, size, size], 1),
  };
  return () => stacks;
}

const sizes = { size: batch, planes: [planes], crop: size };
const rendered: TrainConfig = { ...render, batch: sizes, data: { ...render.data, pool, size: Math.max(size, render.data.size) } };
const fromFiles = checkConfig({
  ...nyu,
  batch: sizes,
  data: { ...nyu.data, kind: option("kind", "nyu"), foreignDepth: 0.25 },
  augment: { ...nyu.augment, gamma: [0.7, 1.4], colour: [0.75, 1.2] },
});

async function open(config: TrainConfig, dir?: string): Promise<NextBatch> {
  const options = { engine, config, data: dir, share: { rank: 0, of: 1 } };
  const source = await openSource({ ...options, progress: (line) => process.stderr.write(`${line}\n`) });
  await source.prepare(0);
  return (step) => source.batches.batch(step);
}

const sources: readonly (readonly [string, NextBatch])[] = [
  ["fixed", fixed()],
  ["rendered", await open(rendered)],
  ...(data === "" ? [] : [["data", await open(fromFiles, data)] as const]),
];

const rows = [];
for (const name of option("models", "base,small,dfv").split(",")) {
  const trainer = createTrainer({ engine, config: { ...render, model: networkOf(name) } });
  let step = 0;
  const run = async (source: string, next: NextBatch, count: number): Promise<number> => {
    engine.synchronize();
    const start = performance.now();
    for (let i = 0; i < count; i++) {
      const stacks = await next(step);
      trainer.step(stacks, { step: (step += 1), rate: 1e-4 });
      if (source !== "fixed") disposeBatch(stacks);
    }
    engine.synchronize();
    return (performance.now() - start) / 1e3;
  };
  const speeds: Record<string, number> = {};
  for (const [source, next] of sources) {
    await run(source, next, 8); // eager steps and the capture
    speeds[source] = (batch * steps) / (await run(source, next, steps));
  }
  const { fixed: fixedSpeed = 0, rendered: renderedSpeed = 0, data: dataSpeed } = speeds;
  rows.push({
    model: name,
    batch,
    planes,
    size,
    millisecondsPerStep: (1e3 * batch) / fixedSpeed,
    stacksPerSecond: speeds,
    ...(dataSpeed !== undefined && { ofRendered: dataSpeed / renderedSpeed }),
    losses: scope(() => trainer.takeLosses()),
  });
}
console.log(JSON.stringify({ device, rows }, undefined, 1));
process.exit(0); // the sources' files may still be open
