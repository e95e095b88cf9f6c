import assert from "node:assert/strict";
import { test } from "node:test";

import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Tensor } from "../../src/engine/engine.ts";
import { PlaneContext } from "../../src/model/planeContext.ts";
import { createParameters } from "../../src/nn/module.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });
const read = (tensor: Tensor): Float32Array => engine.read(tensor) as Float32Array;

/** Weights of the hidden layer [1, 2] for one channel's mean and maximum, whose norm passes values through (variance 1 − ε). */
function contextOf(mean: number, maximum: number, expand: number): PlaneContext {
  const vector = (...values: number[]): { shape: number[]; data: Float32Array } => ({
    shape: [values.length],
    data: Float32Array.from(values),
  });
  const window = (values: number[]): { shape: number[]; data: Float32Array } => ({ ...vector(...values), shape: [1, values.length, 1, 1] });
  const weights = new Map([
    ["squeeze.conv.weight", window([mean, maximum])],
    ["squeeze.norm.weight", vector(1)],
    ["squeeze.norm.bias", vector(0)],
    ["squeeze.norm.running_mean", vector(0)],
    ["squeeze.norm.running_var", vector(1 - 1e-5)],
    ["expand.weight", window([expand])],
  ]);
  const tree = createParameters(engine, { weights });
  tree.mode.training = false;
  return new PlaneContext(tree.source, { channels: 1, width: 1 });
}

const planes = (...values: number[]): Tensor => engine.constant(values, { shape: [1, 1, values.length, 1, 1] });

test("mean and maximum over the planes are added to each, worked by hand", () => {
  scope(() => {
    // mean 2, maximum 4: hidden 10·2 + 1·4 = 24, half of it to every plane
    assertClose(read(contextOf(10, 1, 0.5).forward(planes(1, 4, 1))), Float32Array.of(13, 16, 13), 1e-4);
    assertClose(read(contextOf(-1, 0, 0.5).forward(planes(1, 4, 1))), Float32Array.of(1, 4, 1), 1e-4); // rectified
  });
});

test("the order of the planes does not matter, and as many as there are take part", () => {
  scope(() => {
    const context = contextOf(1, -0.25, 2);
    const added = (...values: number[]): number => (read(context.forward(planes(...values)))[0] as number) - (values[0] as number);
    assert.ok(Math.abs(added(3, 1, 8) - added(3, 8, 1)) < 1e-5);
    assert.ok(Math.abs(added(3, 1, 8, 0) - 2 * (3 - 2)) < 1e-4); // mean 3, maximum 8
  });
});

test("a new one adds nothing", () => {
  scope(() => {
    const context = new PlaneContext(createParameters(engine, { random: createRandom(1) }).source, { channels: 3, width: 4 });
    const features = engine.constant(
      Float32Array.from({ length: 3 * 5 * 4 }, (_, i) => Math.sin(i)),
      { shape: [1, 3, 5, 2, 2] },
    );
    assert.deepEqual(read(context.forward(features)), read(features));
  });
});
