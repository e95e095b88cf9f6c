import assert from "node:assert/strict";
import { test } from "node:test";
import { ablations } from "../../src/losses/total.ts";
import { base, dfv, small } from "../../src/model/config.ts";
import { trainedTables } from "../../src/reproduce/trainedTables.ts";
import { ours, variantName, variantNetwork, variantSettings, type Variant } from "../../src/reproduce/variant.ts";
import { overrideConfig } from "../../src/train/config.ts";
import { presets } from "../../src/train/presets.ts";

const configOf = (variant: Variant) =>
  overrideConfig({ ...presets.render, model: variantNetwork(variant, small) }, variantSettings(variant));

const variants = Object.values(trainedTables)
  .flatMap(({ rows }) => rows)
  .flatMap(({ recipe }) => (recipe?.kind === "train" ? [recipe.variant] : []));

test("every variant of the tables is a valid recipe, and equal names mean equal recipes", () => {
  const byName = new Map<string, string>();
  for (const variant of variants) {
    const recipe = JSON.stringify(configOf(variant));
    assert.equal(byName.get(variantName(variant)) ?? recipe, recipe, variantName(variant));
    byName.set(variantName(variant), recipe);
  }
  assert.equal(new Set(byName.values()).size, byName.size, "different names, the same recipe");
  assert.equal(byName.size, 19);
});

test("the ablation's losses are those listed beside the losses, with the rendered recipe's weights", () => {
  const named = { both: "both", noSpatial: "noSpatial", noFocal: "noFocal", neither: "noSpatial-noFocal" } as const;
  const rest = { directGradient: "directGradient", noSharpness: "noSharpness", blurWeight: "blurWeight" } as const;
  for (const [ablation, name] of Object.entries({ ...named, ...rest }) as [keyof typeof ablations, string][]) {
    const variant = variants.find((each) => variantName(each) === name);
    assert.ok(variant, name);
    const { weights, spatial, beta } = configOf(variant).loss;
    const expected = ablations[ablation];
    const isOn = (weight: number): boolean => weight > 0;
    assert.deepEqual(Object.values(weights).map(isOn), Object.values(expected.weights).map(isOn), name);
    assert.deepEqual(spatial, expected.spatial, name);
    assert.equal(beta, presets.render.loss.beta);
  }
});

test("without the spatial constraint the network has no module for it; grid and channels reach the network", () => {
  assert.equal((variantNetwork({ ...ours, spatial: "none" }, base) as typeof base).surface, undefined);
  assert.deepEqual((variantNetwork({ ...ours, grid: 20, channels: 8 }, base) as typeof base).surface, {
    ...base.surface,
    grid: 20,
    channels: 8,
  });
  assert.deepEqual(variantNetwork(ours, base), base); // 14 and 16 are the paper's
  assert.deepEqual(variantNetwork({ network: "dfv", planes: [5] }, base), dfv);
});

test("rows that are the paper's model in several tables are one training", () => {
  const both = Object.values(trainedTables).map(
    ({ rows }) => rows.filter(({ recipe }) => recipe?.kind === "train" && variantName(recipe.variant) === "both").length,
  );
  assert.deepEqual(both, [1, 1, 1, 2, 0]); // ablation, grid 14, C₂ 16, focal on two sets; planes trains with one N each
});
