import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import test from "node:test";

import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine } from "../../../src/engine/torch/torchEngine.ts";
import type { TorchTensor } from "../../../src/engine/torch/torchEngine.ts";

const engine = createTorchEngine({ threads: 1 });
const megabytes = (bytes: number): number => bytes / 2 ** 20;

/** One step of plain gradient descent on a convolution, a norm and a linear layer. */
function step(input: TorchTensor, parameters: { kernel: TorchTensor; head: TorchTensor }): number {
  return scope(() => {
    const { kernel, head } = parameters;
    const [one, zero] = [engine.full([4], 1), engine.full([4], 0)];
    const features = input.conv2d(kernel, { padding: 1 }).groupNorm({ groups: 2, weight: one, bias: zero, epsilon: 1e-5 }).relu();
    const loss = features.mean([2, 3]).matmul(head).sub(1).square().mean();
    engine.backward(loss);
    engine.noGradient(() => {
      for (const parameter of [kernel, head]) {
        const gradient = engine.gradient(parameter);
        if (gradient) engine.call("aten::sub_.Tensor", parameter, gradient, 0.01);
        engine.setGradient(parameter);
      }
    });
    return engine.item(loss);
  });
}

test("10 000 training steps grow resident memory by less than 50 MB and leave no tensor behind", () => {
  const ramp = (shape: number[]) =>
    scope(() =>
      engine
        .range(shape.reduce((a, b) => a * b))
        .reshape(shape)
        .mul(0.01),
    );
  const input = ramp([2, 3, 8, 8]);
  const kernel = engine.requireGradient(ramp([4, 3, 3, 3]));
  const head = engine.requireGradient(engine.full([4, 1], 0.1));
  const first = step(input, { kernel, head });
  for (let i = 0; i < 500; i++) step(input, { kernel, head });
  const [tensors, bytes, resident] = [engine.liveTensors(), engine.liveBytes(), process.memoryUsage().rss];
  let last = first;
  for (let i = 0; i < 10_000; i++) last = step(input, { kernel, head });
  assert.ok(last < first / 100, `the loss went from ${first} to ${last}`);
  assert.equal(engine.liveTensors(), tensors);
  assert.equal(engine.liveBytes(), bytes);
  const growth = megabytes(process.memoryUsage().rss - resident);
  assert.ok(growth < 50, `resident memory grew by ${growth.toFixed(1)} MB`);
});

test("tensors nobody disposed are freed by the collector, inside a loop that never yields", () => {
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 400; i++) engine.full([2_500_000], i); // 10 MB each, 4 GB in all
  const growth = megabytes(process.memoryUsage().rss - before);
  assert.ok(growth < 1500, `resident memory grew by ${growth.toFixed(0)} MB`);
});

test("a tensor in use by the gradient is alive though its handle was disposed", async () => {
  const weight = engine.requireGradient(engine.full([3], 2));
  const loss = scope(() => weight.square().mul(weight).sum());
  await delay(0);
  engine.backward(loss);
  const gradient = engine.gradient(weight);
  assert.deepEqual(gradient && [...(engine.read(gradient) as Float32Array)], [12, 12, 12]);
});
