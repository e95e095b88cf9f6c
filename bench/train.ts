// Training speed: stacks per second of the whole step (forward, losses, backward, clipping, Adam, averages) on one fixed batch.
//   node --import tsx bench/train.ts [--device cuda] [--models base,small,dfv] [--batch 20] [--planes 5] [--size 224] [--steps 30]
import { createTorchEngine } from "../src/engine/torch/torchEngine.ts";
import { configs, type ConfigName } from "../src/model/config.ts";
import { createRandom } from "../src/random.ts";
import { render } from "../src/train/presets.ts";
import { createTrainer } from "../src/train/trainer.ts";
import { option } from "./timing.ts";

const device = option("device", "cpu");
const [batch, planes, size, steps] = ["batch", "planes", "size", "steps"].map((name, i) =>
  Number(option(name, String([20, 5, 224, 30][i]))),
) as [number, number, number, number];
const engine = createTorchEngine({ device });
if (device !== "cpu") engine.fastMath({ tf32: true, cudnnBenchmark: true });
const random = createRandom(1);
const pictures = Float32Array.from({ length: batch * planes * 3 * size * size }, () => random.uniform());
const stacks = {
  images: engine.constant(pictures, { shape: [batch, planes, 3, size, size] }),
  focusDistances: engine.constant(
    Float32Array.from({ length: batch * planes }, (_, i) => i % planes),
    { shape: [batch, planes] },
  ),
  trueDepth: engine.constant(
    Float32Array.from({ length: batch * size * size }, () => random.uniform() * (planes - 1)),
    { shape: [batch, 1, size, size] },
  ),
  valid: engine.full([batch, 1, size, size], 1),
};

const rows = option("models", "base,small,dfv")
  .split(",")
  .map((name) => {
    const trainer = createTrainer({ engine, config: { ...render, model: configs[name as ConfigName] } });
    let step = 0;
    const run = (count: number): number => {
      const start = performance.now();
      for (let i = 0; i < count; i++) trainer.step(stacks, { step: (step += 1), rate: 1e-4 });
      engine.synchronize();
      return (performance.now() - start) / 1e3;
    };
    run(8); // eager steps and the capture
    const seconds = run(steps);
    const losses = trainer.takeLosses();
    return {
      model: name,
      batch,
      planes,
      size,
      millisecondsPerStep: (1e3 * seconds) / steps,
      stacksPerSecond: (batch * steps) / seconds,
      losses,
    };
  });
console.log(JSON.stringify({ device, rows }, undefined, 1));
