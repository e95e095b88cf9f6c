import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { FormatError } from "../../src/io/formatError.ts";
import { readWeights } from "../../src/io/safetensors.ts";
import { configs, small } from "../../src/model/config.ts";
import { initialWeights } from "../../src/model/state.ts";
import {
  byCue,
  expectedErrors,
  formatFacts,
  parseFacts,
  stackFactor,
  type ErrorModel,
  type NetworkFacts,
} from "../../src/network/facts.ts";
import { readModel, replaceFacts, writeModel } from "../../src/network/weightsFile.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const facts: NetworkFacts = {
  average: "dioptres",
  errorModel: {
    planes: 0.3,
    ...byCue(() => ({ at: [0.5, 1], factor: [0.7, 1.4] })),
    stack: { at: [0.1, 0.2], factor: [0.8, 1.5] },
    mismatch: { at: [0, 0.4], factor: [0.5, 2] },
  },
  planes: [3, 10],
  licence: "Apache-2.0",
  training: [{ data: "render", steps: 10, minutes: 0.5, seed: 7 }],
  notes: { remark: "made by hand" },
};

test("facts survive the metadata of a file, whose values are texts", () => {
  const texts = formatFacts(facts);
  assert.ok(Object.values(texts).every((text) => typeof text === "string"));
  assert.deepEqual(parseFacts(texts, "file"), facts);
  assert.deepEqual(parseFacts({}, "file"), {}); // nothing is known, and nothing is made up
});

test("what earlier versions called “as printed” is the mean in metres", () => {
  assert.equal(parseFacts({ average: "as printed" }, "file").average, "metres");
});

test("cues that an older calibration does not have change nothing", () => {
  const { planes, spread, unrest, evidence, disagreement } = facts.errorModel as ErrorModel;
  const older = { errorModel: JSON.stringify({ planes, spread, unrest, evidence, disagreement }) };
  const parsed = parseFacts(older, "file").errorModel as ErrorModel;
  const seen = byCue(() => Float32Array.of(0.8));
  const without = { at: [0], factor: [1] };
  const read = expectedErrors(parsed, seen);
  assert.deepEqual(
    read,
    expectedErrors(
      { ...(facts.errorModel as ErrorModel), tail: without, ripple: without, surroundings: without, region: without, enclosure: without },
      seen,
    ),
  );
  const none = Float32Array.of(0);
  assert.deepEqual(expectedErrors(parsed, { ...seen, tail: none, ripple: none, surroundings: none, region: none, enclosure: none }), read);
  assert.equal(stackFactor(parsed, { doubt: 0.3, mismatch: 0.3 }), 1);
});

test("the factors of the doubt and the mismatch of a stack are multiplied", () => {
  const model = facts.errorModel as ErrorModel;
  const at = (doubt: number, mismatch: number): number => stackFactor(model, { doubt, mismatch });
  assertClose([at(0.1, 0), at(0.2, 0.4), at(0.2, 0.2), at(1, 1)], [0.4, 3, 1.5, 3], 1e-6);
});

test("facts that cannot be right are refused by the file and the key", () => {
  const refuses = (texts: Record<string, string>, message: RegExp): void => {
    assert.throws(
      () => parseFacts(texts, "net.safetensors"),
      (error) => error instanceof FormatError && error.message.startsWith("net.safetensors: ") && message.test(error.message),
      String(message),
    );
  };
  refuses({ average: "feet" }, /average/);
  const withSpread = (spread: object): { errorModel: string } => ({ errorModel: JSON.stringify({ ...facts.errorModel, spread }) });
  refuses({ errorModel: "{" }, /is not JSON[^]*errorModel/);
  refuses({ errorModel: '{"planes":1}' }, /errorModel/);
  refuses(withSpread({ at: [1, 2], factor: [1] }), /same length[^]*errorModel/);
  refuses(withSpread({ at: [2, 1], factor: [1, 1] }), /increase[^]*errorModel/);
  refuses({ planes: "[10,3]" }, /planes/);
  refuses({ planes: "5" }, /planes/);
  refuses({ licence: "" }, /licence/);
  refuses({ training: '[{"data":"render"}]' }, /training/);
});

test("a file is told new facts without a change to its tensors, however they are stored", () => {
  for (const storage of ["f16", "int8"] as const) {
    const before = writeModel({ config: small, weights: initialWeights(small, createRandom(1)), facts: {} }, { storage });
    const after = replaceFacts(before, facts, "file");
    assert.deepEqual(readModel(after, "file").facts, facts);
    assert.deepEqual(readWeights(after), readWeights(before));
  }
});

test("the shipped weights say everything about themselves", () => {
  for (const [name, firstRuns] of [
    ["small", [18_506, 14_947, 4_040, 8_350]],
    ["fine", [10_682, 10_710, 3_879, 5_493]], // those of base, which it grew from
  ] as const) {
    const file = join(import.meta.dirname, "..", "..", "models", `${name}.safetensors`);
    const { config, facts } = readModel(readFileSync(file), name);
    assert.deepEqual(config, configs[name]);
    const { average, planes, licence, errorModel, training = [] } = facts;
    assert.deepEqual([average, planes, licence], ["dioptres", [3, 10], "Apache-2.0"]);
    assert.ok(errorModel, `${name} is not calibrated`);
    assert.deepEqual(training.slice(0, 4).map(({ steps }) => steps), firstRuns); // prettier-ignore
    assert.ok(training.length > 4 && training.every(({ data }) => data === "render"), "trained on rendered scenes alone");
  }
});
