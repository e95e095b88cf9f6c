import assert from "node:assert/strict";
import { test } from "node:test";

import { dfvLoss, paperLoss } from "../../src/losses/total.ts";
import { base, dfv } from "../../src/model/config.ts";
import { checkConfig } from "../../src/train/config.ts";
import { presets } from "../../src/train/presets.ts";

test("every preset is a configuration training accepts", () => {
  for (const [name, preset] of Object.entries(presets)) assert.deepEqual(checkConfig(preset, name), preset);
});

test("the paper's runs have its numbers: rate 1e-4 to 1e-5, clipped at 0.5, λ 20 and 100, crops of 224, its batches and epochs", () => {
  const { nyu, fod500, ddff12 } = presets;
  for (const preset of [nyu, fod500, ddff12]) {
    assert.equal(preset.model, base);
    assert.deepEqual(preset.learningRate, { from: 1e-4, to: 1e-5, warmUpSteps: 0 });
    assert.deepEqual(preset.adam, { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 });
    assert.equal(preset.clip, 0.5);
    assert.deepEqual(preset.loss, paperLoss);
    assert.deepEqual(preset.loss.weights, { spatial: 20, focal: 100, trend: 0 });
    assert.deepEqual(preset.loss.levels, [1]); // one head, no deep supervision
    assert.equal(preset.loss.spatial.temperature, 1);
    assert.equal(preset.batch.crop, 224);
    assert.deepEqual(preset.batch.planes, [5]);
  }
  assert.deepEqual([nyu.batch.size, nyu.budget], [16, { epochs: 40 }]);
  assert.deepEqual([fod500.batch.size, fod500.budget], [20, { epochs: 2000 }]);
  assert.deepEqual([ddff12.batch.size, ddff12.budget], [20, { epochs: 2000 }]);
  assert.deepEqual([nyu.data.depthScale, fod500.data.depthScale, ddff12.data.depthScale], [1, 0.2, 1]);
});

test("DFV's run has its own recipe: a constant rate, 28 000 steps, four levels", () => {
  const preset = presets.dfv;
  assert.equal(preset.model, dfv);
  assert.deepEqual(preset.learningRate, { from: 1e-4, to: 1e-4, warmUpSteps: 0 });
  assert.deepEqual([preset.budget, preset.clip, preset.loss], [{ steps: 28_000 }, 0.5, dfvLoss]);
});
