import assert from "node:assert/strict";
import { test } from "node:test";
import { dfvLoss, paperLoss } from "../../src/losses/total.ts";
import { base, dfv, small, type DualFocusConfig } from "../../src/model/config.ts";
import { presets } from "../../src/train/presets.ts";
import { applyVariant, variants, type Variant } from "../../src/train/variants.ts";

const names = Object.keys(variants) as Variant[];
const surfaceOf = (variant: Variant) => (applyVariant(presets.nyu, variant).model as DualFocusConfig).surface;

test("every variant is a valid recipe, unlike every other", () => {
  const recipes = names.map((name) => JSON.stringify(applyVariant({ ...presets.render, model: small }, name)));
  assert.equal(new Set(recipes).size, names.length);
});

test("on the paper's recipe the variant with both constraints changes nothing", () => {
  assert.deepEqual(applyVariant(presets.nyu, "both"), presets.nyu);
  assert.deepEqual(applyVariant(presets.fod500, "both"), presets.fod500);
});

test("a variant changes its own part of the losses and keeps the recipe's other weights", () => {
  const { weights } = presets.render.loss;
  assert.deepEqual(applyVariant(presets.render, "noFocal").loss, { ...presets.render.loss, weights: { ...weights, focal: 0, trend: 0 } });
  assert.deepEqual(applyVariant(presets.render, "noSpatial-noFocal").loss.weights, { spatial: 0, focal: 0, trend: 0 });
  assert.deepEqual(applyVariant(presets.render, "trend"), presets.render); // our recipe has that loss already
  assert.deepEqual(applyVariant(presets.nyu, "directGradient").loss.spatial, { ...paperLoss.spatial, supervise: "gradientField" });
  assert.deepEqual(applyVariant(presets.nyu, "blurWeight").loss.spatial, { ...paperLoss.spatial, planeWeight: "blur" });
});

test("without the spatial constraint the network has no module for it; grid and channels reach the network", () => {
  assert.equal(surfaceOf("noSpatial"), undefined);
  assert.deepEqual(surfaceOf("grid20"), { ...base.surface, grid: 20 });
  assert.deepEqual(surfaceOf("channels8"), { ...base.surface, channels: 8 });
});

test("a variant is of the paper's network: parts of ours are left out, whatever the network it starts from", () => {
  assert.ok(small.planeContext && small.convexUpsampling);
  const withDetail = { ...small, detail: { filters: 4 } };
  for (const name of names.filter((each) => each !== "dfv")) {
    const { detail, planeContext, convexUpsampling, encoder } = applyVariant({ ...presets.nyu, model: withDetail }, name)
      .model as DualFocusConfig;
    assert.deepEqual(
      { detail, planeContext, convexUpsampling, encoder },
      { detail: undefined, planeContext: undefined, convexUpsampling: undefined, encoder: small.encoder },
    );
  }
});

test("the baseline is DFV with its own loss", () => {
  const { model, loss } = applyVariant(presets.fod500, "dfv");
  assert.deepEqual([model, loss], [dfv, dfvLoss]);
});
