import assert from "node:assert/strict";
import { test } from "node:test";

import { FormatError } from "../../src/io/formatError.ts";
import { readWeights, writeWeights } from "../../src/io/safetensors.ts";
import { configs, dfv, small } from "../../src/model/config.ts";
import { initialWeights } from "../../src/model/state.ts";
import { parseNetworkConfig, readModel, writeModel } from "../../src/network/weightsFile.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { tiny } from "../helpers/network.ts";

const model = { config: tiny, weights: initialWeights(tiny, createRandom(1)), metadata: { run: "a test" } };

test("a model comes back from its file, in every storage", () => {
  for (const [storage, relative] of [
    ["f32", 1e-9],
    ["f16", 1e-3],
    ["int8", 1e-2],
  ] as const) {
    // prettier-ignore
    const read = readModel(writeModel(model, { storage }), "model");
    assert.deepEqual(read.config, tiny);
    assert.deepEqual(read.metadata, { run: "a test" });
    assert.deepEqual([...read.weights.keys()].sort(), [...model.weights.keys()].sort());
    const name = "encoder.trunk.conv1.weight";
    assertClose(read.weights.get(name)?.data ?? [], model.weights.get(name)?.data ?? [], relative);
  }
});

test("every configuration, and one without a surface, survives JSON", () => {
  for (const config of [...Object.values(configs), { ...small, surface: undefined }])
    assert.deepEqual(parseNetworkConfig(JSON.stringify(config), "file"), config);
});

test("a description that is none, or has a wrong or unknown part, is refused with its place", () => {
  const fails = (value: unknown, message: RegExp): void => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    assert.throws(
      () => parseNetworkConfig(text, "net.json"),
      (error) => error instanceof FormatError && error.message.startsWith("net.json: ") && message.test(error.message),
      String(message),
    );
  };
  fails("{", /not JSON/);
  fails([], /description is wrong/);
  fails({ kind: "resnet" }, /kind/);
  fails({ ...small, coarse: 0 }, /coarse/);
  fails({ ...small, coarse: "48" }, /coarse/);
  fails({ ...small, fusion: [1, 2] }, /fusion/);
  fails({ ...small, surface: { ...small.surface, grid: 1 } }, /surface/);
  fails({ ...small, surface: { ...small.surface, solver: "magic" } }, /surface/);
  fails({ ...small, extra: 1 }, /extra/);
  fails({ ...dfv, encoder: { ...dfv.encoder, pooling: "all" } }, /pooling/);
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
