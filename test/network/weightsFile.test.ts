import assert from "node:assert/strict";
import { test } from "node:test";

import { readWeights, writeWeights } from "../../src/io/safetensors.ts";
import { initialWeights } from "../../src/model/state.ts";
import { readModel, writeModel } from "../../src/network/weightsFile.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { tiny } from "../helpers/network.ts";

const model = {
  config: tiny,
  weights: initialWeights(tiny, createRandom(1)),
  facts: { average: "metres", licence: "a test", notes: { run: "1" } },
} as const;

test("a model comes back from its file, in every storage", () => {
  for (const [storage, relative] of [
    ["f32", 1e-9],
    ["f16", 1e-3],
    ["int8", 1e-2],
  ] as const) {
    // prettier-ignore
    const read = readModel(writeModel(model, { storage }), "model");
    assert.deepEqual(read.config, tiny);
    assert.deepEqual(read.facts, model.facts);
    assert.deepEqual([...read.weights.keys()].sort(), [...model.weights.keys()].sort());
    const name = "encoder.trunk.conv1.weight";
    assertClose(read.weights.get(name)?.data ?? [], model.weights.get(name)?.data ?? [], relative);
  }
});

test("weights without a description, or of another network, are refused by name", () => {
  assert.throws(() => readModel(writeWeights(model.weights), "net.st"), /net\.st: holds tensors but no network description/);
  const metadata = { config: JSON.stringify({ ...tiny, coarse: 16 }) };
  assert.throws(() => readModel(writeWeights(model.weights, { metadata }), "net.st"), /net\.st: .*another network: .*expand\.weight is/);
  const fewer = new Map(readWeights(writeModel(model, { storage: "f32" })));
  fewer.delete("decoder.logit.bias");
  assert.throws(
    () => readModel(writeModel({ ...model, weights: fewer }, { storage: "f32" }), "net.st"),
    /decoder\.logit\.bias \[1\] is missing/,
  );
});
