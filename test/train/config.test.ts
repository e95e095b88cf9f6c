import assert from "node:assert/strict";
import { test } from "node:test";
import { changedSettings, checkConfig, ConfigError, overrideConfig } from "../../src/train/config.ts";
import { stacksFor } from "../../src/train/deviceAugment.ts";
import { presets, render, smoke } from "../../src/train/presets.ts";

test("every preset is valid and survives JSON, as it must to be in a checkpoint", () => {
  for (const [name, preset] of Object.entries(presets)) {
    const read = checkConfig(JSON.parse(JSON.stringify(preset)), name);
    assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(preset)));
  }
});

test("the paper's presets hold the paper's numbers", () => {
  const { nyu, fod500, ddff12 } = presets;
  assert.deepEqual([nyu.batch.size, nyu.budget, nyu.learningRate.from, nyu.learningRate.to], [16, { epochs: 40 }, 1e-4, 1e-5]);
  for (const { batch, budget, loss, adam } of [fod500, ddff12]) {
    assert.deepEqual([batch.size, batch.crop, budget], [20, 224, { epochs: 2000 }]);
    assert.deepEqual([loss.weights, adam.beta1, adam.beta2], [{ spatial: 20, focal: 100, trend: 0 }, 0.9, 0.999]);
  }
});

test("settings reach any depth; values are JSON, or text", () => {
  const changed = overrideConfig(render, ["loss.beta=0.5", "batch.planes=[5,10]", "precision=f32", "model.surface.grid=20"]);
  assert.deepEqual([changed.loss.beta, changed.batch.planes, changed.precision], [0.5, [5, 10], "f32"]);
  assert.equal(changed.model.kind === "dualfocus" && changed.model.surface?.grid, 20);
  assert.equal(render.loss.beta, 0.15); // the preset itself stays
});

test("an impossible setting is named", () => {
  const refuse = (settings: string[], message: RegExp): void => {
    assert.throws(
      () => overrideConfig(smoke, settings),
      (error) => error instanceof ConfigError && message.test(error.message),
      settings.join(" "),
    );
  };
  refuse(["loss.beta"], /expected NAME=VALUE/);
  refuse(["los.beta=1"], /there is no group of settings "los" among model, data/);
  refuse(["loss.weights.extra=1"], /loss\.weights: Unrecognized key: "extra"/);
  refuse(["batch.crop=100"], /batch\.crop/);
  refuse(["batch.crop=96"], /batch\.crop \(96\) is larger than data\.size \(64\)/);
  refuse(['batch.crops=[{"side":64,"reduced":1}]', "batch.crop=96"], /batch\.crop \(96\) is larger than data\.size \(64\)/);
  assert.throws(
    () => overrideConfig(presets.nyu, ['batch.crops=[{"side":64,"reduced":1}]']),
    /batch\.crops is for rendered stacks; set batch\.crop/,
  );
  refuse(["data.validation.size=32"], /batch\.crop \(64\) is larger than data\.validation\.size \(32\)/);
  refuse(["batch.crop=96", "data.validation.size=128"], /batch\.crop \(96\) is larger than data\.size \(64\)/);
  refuse(['batch.crops=[{"side":64,"reduced":1},{"side":128,"reduced":2}]'], /batch\.crops has 128, larger than data\.size \(64\)/);
  for (const crop of ['{"side":48,"reduced":1}', '{"side":64,"reduced":3}', '{"side":64,"reduced":4}'])
    refuse([`batch.crops=[{"side":64,"reduced":1},${crop}]`], /batch\.crops\.1: side \/ reduced must be a multiple of 32/);
  refuse(['batch.crops=[{"side":64,"reduced":0}]'], /batch\.crops\.0\.reduced: Too small/);
  refuse(["batch.crops=[]"], /batch\.crops: Too small/);
  refuse(["batch.planes=[9]"], /only data\.planes = 4 are rendered/);
  refuse(
    ["data.size=72", 'data.phone={"share":1,"blur":[1,2],"shadows":0}'],
    /data\.size \(72\) must be a multiple of 16 when data\.phone is set/,
  );
  refuse(
    ["data.validation.size=72", 'data.phone={"share":1,"blur":[1,2],"shadows":0}'],
    /data\.validation\.size \(72\) must be a multiple of 16 when data\.phone is set/,
  );
  refuse(['data.sweep={"share":1,"planes":[3,9],"blur":[1,2]}'], /data\.sweep\.planes starts at 3, but data\.planes = 4/);
  refuse(
    ["data.planes=3", "batch.planes=[3]", 'data.sweep={"share":1,"planes":[12,20],"blur":[1,2]}'],
    /data\.sweep takes 4 planes or more of each sweep, but data\.planes = 3/,
  );
  refuse(['data.themes=["castle"]'], /data\.themes\.0/);
  refuse(["model.encoder.upStep=conv5"], /model: .*upStep/s);
  refuse(['budget={"hours":1}'], /budget/);
  refuse(["adam.beta1=1"], /adam\.beta1: Too big/);
  refuse(["adam.beta2=1"], /adam\.beta2: Too big/);
  refuse(["__proto__.spoilt=1"], /"__proto__" is not a setting/);
  refuse(['loss.__proto__={"spoilt":1}'], /"__proto__" is not a setting/);
  refuse(["constructor.prototype.spoilt=1"], /"constructor" is not a setting/);
  assert.ok(!("spoilt" in {}));
});

test("a setting that may be left out can still be set", () => {
  assert.equal(overrideConfig(smoke, ["norms=frozen"]).norms, "frozen");
});

test("crops may be as large as the images of training, and those held out smaller", () => {
  const crops = [{ side: 128, reduced: 1 }, { side: 128, reduced: 2 }, { side: 128, reduced: 4 }, { side: 32, reduced: 1 }]; // prettier-ignore
  const { batch, data } = overrideConfig(smoke, ["data.size=128", "data.validation.size=64", `batch.crops=${JSON.stringify(crops)}`]);
  assert.deepEqual(batch.crops, crops);
  assert.equal(data.kind === "render" && data.validation.size, 64);
  assert.equal(batch.crop, smoke.batch.crop);
});

test("settings that differ are named, and no others", () => {
  const changed = overrideConfig(smoke, ["model.head.width=16", "batch.planes=[3]", "norms=frozen"]);
  assert.deepEqual(changedSettings(smoke, changed), ["model.head.width", "batch.planes", "norms"]);
  assert.deepEqual(changedSettings(smoke.model, changed.model, "model"), ["model.head.width"]);
  assert.deepEqual(changedSettings(smoke, overrideConfig(smoke, [])), []);
});

test("a step takes fewer stacks of more planes, so that it stays the same work", () => {
  assert.deepEqual(
    [3, 5, 10].map((planes) => stacksFor(render.batch, planes)),
    [40, 24, 12],
  );
});

test("a step takes fewer stacks of larger images too, by their area, and never fewer than two", () => {
  const batch = { size: 12, planes: [5, 10], crop: 64 };
  const at = (planes: number) => [32, 64, 96, 128, 256].map((side) => stacksFor(batch, planes, side));
  assert.deepEqual(at(5), [48, 12, 5, 3, 2]); //   12 · (64 / side)²: 48, 12, 5.3, 3, 0.75
  assert.deepEqual(at(10), [24, 6, 3, 2, 2]); //    6 · (64 / side)²: 24, 6, 2.7, 1.5, 0.4
});
