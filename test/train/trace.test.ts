import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { Tensor } from "../../src/engine/engine.ts";
import { keep, scope } from "../../src/engine/scope.ts";
import { createTorchEngine, type TorchTensor } from "../../src/engine/torch/torchEngine.ts";
import { smoothL1 } from "../../src/losses/smoothL1.ts";
import { createAdam } from "../../src/train/adam.ts";
import { wireNet, type MakeParameter } from "../helpers/wireNet.ts";

const [BATCH, PLANES, HEIGHT, WIDTH] = [2, 3, 16, 24];
const golden = JSON.parse(readFileSync(join(import.meta.dirname, "../golden/train_pytorch.json"), "utf8")) as { losses: number[] };

const engine = createTorchEngine({ threads: 1 });
const f64 = (shape: readonly number[], value: (i: number) => number): TorchTensor => {
  const length = shape.reduce((product, size) => product * size, 1);
  return keep(engine.constant(Float64Array.from({ length }, (_, i) => value(i)), { shape, dtype: "f64" })); // prettier-ignore
};

/** First values as test/golden/train_pytorch.py has them: waves, and norms that change nothing. */
function firstValues(name: string, shape: readonly number[]): TorchTensor {
  if (shape.length === 1) return f64(shape, () => (/weight$|running_var$/.test(name) ? 1 : 0));
  const fanIn = shape.slice(1).reduce((product, size) => product * size, 1);
  return f64(shape, (i) => Math.sqrt(2 / fanIn) * Math.SQRT2 * Math.sin(1 + 1.7 * i + name.length));
}

test("200 steps of Adam on a net of 2-D and 3-D convolutions, norms, resizing and softmax follow PyTorch's own losses", () => {
  const parameters = new Map<string, Tensor>();
  const make: MakeParameter = (name, _, shape) => {
    const tensor = firstValues(name, shape);
    if (name.includes("running")) return tensor;
    parameters.set(name, engine.requireGradient(tensor));
    return tensor;
  };
  const net = wireNet(engine, make, { training: true });
  const adam = createAdam(engine, parameters, { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 });
  const input = {
    images: f64([BATCH, PLANES, 3, HEIGHT, WIDTH], (i) => 0.5 + 0.5 * Math.sin(0.9 * i)),
    focusDistances: f64([BATCH, PLANES], (i) => 1 + (i % PLANES)),
  };
  const trueDepth = f64([BATCH, 1, HEIGHT, WIDTH], (i) => 2 + Math.sin(0.3 * (i % WIDTH) + 0.2 * Math.floor(i / WIDTH)));
  const valid = f64([BATCH, 1, HEIGHT, WIDTH], () => 1);

  const before = engine.liveTensors();
  golden.losses.forEach((expected, at) => {
    const loss = scope(() => {
      const total = smoothL1({ depth: net(input).depth, trueDepth, valid }, { beta: 0.5 });
      engine.backward(total);
      const gradients = [...parameters.values()].map((parameter) => engine.gradient(parameter) as TorchTensor);
      adam.prepare({ step: at + 1, rate: 0.01 });
      adam.apply(gradients);
      for (const parameter of parameters.values()) engine.setGradient(parameter);
      return engine.item(total);
    });
    assert.ok(Math.abs(loss - expected) <= 1e-6 * expected, `step ${at + 1}: ${loss}, PyTorch has ${expected}`);
  });
  assert.ok(engine.liveTensors() <= before, `${before} tensors became ${engine.liveTensors()}`); // fewer: set-up's are collected
  assert.equal(golden.losses.length, 200);
});
