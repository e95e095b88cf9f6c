import assert from "node:assert/strict";
import { test } from "node:test";

import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { misfits, type Weights } from "../../src/io/safetensors.ts";
import type { DualFocusConfig } from "../../src/model/config.ts";
import { grownWeights } from "../../src/model/grown.ts";
import { createNetwork } from "../../src/model/network.ts";
import { initialWeights, stateShapes } from "../../src/model/state.ts";
import { createParameters } from "../../src/nn/module.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { randomImages, randomWeights, tiny, tinyWithImages } from "../helpers/network.ts";

const engine = createTorchEngine({ threads: 1 });
const given = randomWeights(engine, tiny);

function probability(config: DualFocusConfig, weights: Weights): Float32Array {
  return engine.noGradient(() =>
    scope(() => {
      const network = createNetwork(createParameters(engine, { weights }).source, config);
      const images = engine.constant(randomImages({ B: 1, N: 3, H: 64, W: 64 }), { shape: [1, 3, 3, 64, 64] });
      return engine.read(network.forward({ images, focusDistances: engine.full([1, 3], 1) }).focusProbability) as Float32Array;
    }),
  );
}

const grownTo = (config: DualFocusConfig): Weights => grownWeights(initialWeights(config, createRandom(1)), given);

test("a grown network gives what it gave: with detail and the context of planes to rounding, with convex upsampling as near as that starts to bilinear", () => {
  const before = probability(tiny, given);
  for (const larger of [
    { ...tiny, detail: { filters: 3 } },
    { ...tiny, planeContext: { width: 4 } },
  ])
    assertClose(probability(larger, grownTo(larger)), before, 1e-5);
  assertClose(probability(tinyWithImages, grownTo(tinyWithImages)), before, 0.02);
});

test("detail that is grown and dropped again leaves no trace, and other modules that the network no longer has are dropped", () => {
  const larger = { ...tiny, detail: { filters: 3 }, planeContext: { width: 4 } };
  const back = grownWeights(initialWeights(tiny, createRandom(2)), grownTo(larger));
  assert.deepEqual(new Map([...back].sort()), new Map([...given].sort()));
});

test("channels are cut off only with the detail that they read", () => {
  const narrower: DualFocusConfig = { ...tiny, upChannels: [4, 4] };
  const problems = misfits(stateShapes(narrower), grownWeights(initialWeights(narrower, createRandom(1)), given));
  assert.ok(problems.length > 0, "a convolution of fewer channels for another reason stays, to be named");
});

test("what cannot be grown stays as it is, for the check of the weights to name", () => {
  const wider: DualFocusConfig = { ...tinyWithImages, fusion: [8, 8, 16] };
  const problems = misfits(stateShapes(wider), grownTo(wider));
  assert.ok(
    problems.some((problem) => /^decoder\.fuse4\.0\.first\.conv\.weight is \[8, .*, not \[16,/.test(problem)),
    problems.join("\n"),
  );
  assert.ok(problems.every((problem) => !problem.startsWith("decoder.detail")));
});
