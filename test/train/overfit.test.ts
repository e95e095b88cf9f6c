import assert from "node:assert/strict";
import { test } from "node:test";

import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { paperLoss } from "../../src/losses/total.ts";
import { small, type DualFocusConfig } from "../../src/model/config.ts";
import { createTrainer } from "../../src/train/trainer.ts";
import { createRandom } from "../../src/random.ts";

const SIZE = 64;
const PLANES = 5;

/** A slanted, gently curved surface through all planes, with a noise texture blurred in proportion to the distance from focus. */
function sample(): { images: Float32Array; depth: Float32Array } {
  const random = createRandom(9);
  const texture = Float32Array.from({ length: 3 * SIZE * SIZE }, () => random.uniform());
  const depth = Float32Array.from({ length: SIZE * SIZE }, (_, i) => {
    const [x, y] = [(i % SIZE) / SIZE, Math.floor(i / SIZE) / SIZE];
    return 0.5 + 2.6 * x + 0.4 * Math.sin(3 * y);
  });
  const images = new Float32Array(PLANES * 3 * SIZE * SIZE);
  for (let i = 0; i < images.length; i++) {
    const [pixel, channel, plane] = [i % (SIZE * SIZE), Math.floor(i / SIZE ** 2) % 3, Math.floor(i / (3 * SIZE ** 2))];
    images[i] = blurred(texture, { pixel, channel, sigma: 0.3 + Math.abs((depth[pixel] as number) - plane) });
  }
  return { images, depth };
}

function blurred(texture: Float32Array, { pixel, channel, sigma }: { pixel: number; channel: number; sigma: number }): number {
  let [sum, total] = [0, 0];
  for (let dy = -6; dy <= 6; dy++)
    for (let dx = -6; dx <= 6; dx++) {
      const [x, y] = [((pixel % SIZE) + dx + SIZE) % SIZE, (Math.floor(pixel / SIZE) + dy + SIZE) % SIZE];
      const weight = Math.exp(-(dx * dx + dy * dy) / (2 * sigma * sigma));
      sum += weight * (texture[channel * SIZE * SIZE + y * SIZE + x] as number);
      total += weight;
    }
  return sum / total;
}

/** Small, narrower: the same wiring with both constraints, a second a hundred steps. */
const narrow: DualFocusConfig = {
  ...small,
  encoder: { ...small.encoder, widths: [16, 16, 16, 16], out: [8, 8, 8, 8] },
  coarse: 16,
  fusion: [16, 16, 16],
  upChannels: [8, 8],
};

test("with both constraints on, the network learns one stack to a twentieth of a plane", () => {
  const engine = createTorchEngine({ threads: 1 });
  const { images, depth } = sample();
  const trainer = createTrainer({
    engine,
    config: {
      model: narrow,
      loss: { ...paperLoss, beta: 0.1, weights: { spatial: 1, focal: 10, trend: 0 } },
      adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
      clip: 1,
      ema: { decay: 0, every: 1 },
      precision: "f32",
      seed: 3,
    },
  });
  const batch = {
    images: engine.constant(images, { shape: [1, PLANES, 3, SIZE, SIZE] }),
    focusDistances: engine.constant([0, 1, 2, 3, 4], { shape: [1, PLANES] }),
    trueDepth: engine.constant(depth, { shape: [1, 1, SIZE, SIZE] }),
    valid: engine.full([1, 1, SIZE, SIZE], 1),
  };
  const rootMeanSquare = (): number => {
    trainer.tree.mode.training = false;
    const predicted = engine.noGradient(() => scope(() => engine.read(trainer.network.forward(batch).depth) as Float32Array));
    return Math.sqrt(predicted.reduce((sum, value, i) => sum + (value - (depth[i] as number)) ** 2, 0) / predicted.length);
  };
  const before = rootMeanSquare();
  const steps = 150;
  for (let step = 1; step <= steps; step++) trainer.step(batch, { step, rate: 2e-3 * Math.min(1, 1.05 - step / steps) });
  const after = rootMeanSquare();
  assert.ok(before > 0.3, `before: ${before}`);
  assert.ok(after < 0.05, `after ${steps} steps: ${after} planes`);
});
