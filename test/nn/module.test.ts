import assert from "node:assert/strict";
import { test } from "node:test";

import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { scope } from "../../src/engine/scope.ts";
import { readWeights, writeWeights } from "../../src/io/safetensors.ts";
import { Conv2d } from "../../src/nn/conv.ts";
import { ones, uniformFanIn } from "../../src/nn/init.ts";
import { createParameters, type ParameterTree } from "../../src/nn/module.ts";
import { BatchNorm } from "../../src/nn/norm.ts";
import { createRandom } from "../../src/random.ts";

const engine = createTorchEngine({ threads: 1 });

/** A convolution and its norm, as a network would be built of them. */
function build(tree: ParameterTree): { conv: Conv2d; norm: BatchNorm } {
  const source = tree.source.at("stem");
  return { conv: new Conv2d(source.at("conv"), { in: 3, out: 4, kernel: 3, bias: true }), norm: new BatchNorm(source.at(1), 4) };
}

const values = (tree: ParameterTree): [string, number[]][] =>
  [...tree.state].map(([name, tensor]) => [name, [...(engine.read(tensor) as Float32Array)]]);

test("parameters and buffers are kept by their nested names, in the order they were made", () => {
  const tree = createParameters(engine, { random: createRandom(1) });
  build(tree);
  assert.deepEqual([...tree.parameters.keys()], ["stem.conv.weight", "stem.conv.bias", "stem.1.weight", "stem.1.bias"]);
  assert.deepEqual([...tree.buffers.keys()], ["stem.1.running_mean", "stem.1.running_var"]);
  assert.deepEqual([...tree.state.keys()], [...tree.parameters.keys(), ...tree.buffers.keys()]);
  assert.deepEqual(tree.parameters.get("stem.conv.weight")?.shape, [4, 3, 3, 3]);
});

test("the same seed draws the same values, and a parameter's values do not depend on those made before it", () => {
  const drawn = (): [string, number[]][] => {
    const tree = createParameters(engine, { random: createRandom(5) });
    build(tree);
    return values(tree);
  };
  assert.deepEqual(drawn(), drawn());
  const alone = createParameters(engine, { random: createRandom(5) });
  alone.source.at("stem").at("conv").parameter("weight", [4, 3, 3, 3], uniformFanIn);
  assert.deepEqual(values(alone)[0], drawn()[0]);
});

test("the state goes through a file and comes back into a network bit for bit", () => {
  const tree = createParameters(engine, { random: createRandom(2) });
  build(tree);
  const state = new Map(
    [...tree.state].map(([name, tensor]) => [name, { shape: tensor.shape as number[], data: engine.read(tensor) as Float32Array }]),
  );
  const again = createParameters(engine, { weights: readWeights(writeWeights(state)) });
  build(again);
  assert.deepEqual(values(again), values(tree));
});

test("a name made twice and a weight that is not there are errors that name them", () => {
  const tree = createParameters(engine, { random: createRandom(3) });
  tree.source.at("a").parameter("weight", [1], ones);
  assert.throws(() => tree.source.buffer("a.weight", [1], ones), /"a\.weight" is created twice/);
  const { source } = createParameters(engine, { weights: new Map() });
  assert.throws(() => source.at("head").parameter("bias", [2], ones), /"head\.bias" \[2\] is missing/);
});

test("parameters outlive the scope they were made in", () => {
  const tree = scope(() => {
    const made = createParameters(engine, { random: createRandom(4) });
    build(made);
    return made;
  });
  assert.equal(values(tree).length, 6);
});
