import assert from "node:assert/strict";
import { test } from "node:test";

import type { WeightArray } from "../../src/io/safetensors.ts";
import { base, small } from "../../src/model/config.ts";
import { withPretrainedTrunk } from "../../src/model/pretrained.ts";
import { initialWeights, stateShapes } from "../../src/model/state.ts";
import { createRandom } from "../../src/random.ts";

const STAGES = [64, 128, 256, 512];

/** Names and shapes of torchvision's resnet18, written out as its source has them, batch counters and classifier included. */
function torchvisionShapes(): Map<string, number[]> {
  const shapes = new Map<string, number[]>();
  const norm = (name: string, channels: number): void => {
    for (const part of ["weight", "bias", "running_mean", "running_var"]) shapes.set(`${name}.${part}`, [channels]);
    shapes.set(`${name}.num_batches_tracked`, []);
  };
  shapes.set("conv1.weight", [64, 3, 7, 7]);
  norm("bn1", 64);
  STAGES.forEach((out, stage) => {
    for (const block of [0, 1]) {
      const input = block === 1 ? out : (STAGES[stage - 1] ?? 64);
      const name = `layer${stage + 1}.${block}`;
      shapes.set(`${name}.conv1.weight`, [out, input, 3, 3]);
      norm(`${name}.bn1`, out);
      shapes.set(`${name}.conv2.weight`, [out, out, 3, 3]);
      norm(`${name}.bn2`, out);
      if (input !== out) {
        shapes.set(`${name}.downsample.0.weight`, [out, input, 1, 1]);
        norm(`${name}.downsample.1`, out);
      }
    }
  });
  shapes.set("fc.weight", [1000, 512]);
  shapes.set("fc.bias", [1000]);
  return shapes;
}

const filled = (shapes: ReadonlyMap<string, readonly number[]>, value: number): Map<string, WeightArray> =>
  new Map([...shapes].map(([name, shape]) => [name, { shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(value) }]));

const torchvision = filled(torchvisionShapes(), 7);
assert.equal(torchvision.size, 122); // as many as torchvision's state_dict has

test("torchvision's ResNet-18 takes the place of the trunk, and of nothing else", () => {
  const start = filled(stateShapes(base), 1);
  const weights = withPretrainedTrunk(start, torchvision);
  assert.deepEqual([...weights.keys()], [...start.keys()]);
  for (const [name, { shape, data }] of weights) {
    assert.deepEqual(shape, start.get(name)?.shape);
    assert.equal(data[0], name.startsWith("encoder.trunk.") ? 7 : 1, name);
  }
});

test("a network that keeps the classifier takes that too", () => {
  const start = filled(stateShapes({ ...base, encoder: { ...base.encoder, classifier: true } }), 1);
  assert.equal(withPretrainedTrunk(start, torchvision).get("encoder.trunk.fc.weight")?.data[0], 7);
});

test("another network's weights are refused, naming the tensor and the file", () => {
  const narrow = initialWeights(small, createRandom(1));
  assert.throws(
    () => withPretrainedTrunk(narrow, torchvision, "resnet18.st"),
    /resnet18\.st: .*conv1\.weight is \[64, 3, 7, 7\], not \[32, 3, 7, 7\]/,
  );
  const start = filled(stateShapes(base), 1);
  const partial = new Map(torchvision);
  partial.delete("layer3.0.conv1.weight");
  assert.throws(() => withPretrainedTrunk(start, partial), /layer3\.0\.conv1\.weight \[256, 128, 3, 3\] is missing/);
  assert.throws(
    () => withPretrainedTrunk(start, new Map([...torchvision, ...filled(new Map([["layer5.weight", [1]]]), 0)])),
    /layer5\.weight is not a tensor/,
  );
});
