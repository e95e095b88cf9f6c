import assert from "node:assert/strict";
import { test } from "node:test";

import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { base, dfv } from "../../src/model/config.ts";
import { createNetwork } from "../../src/model/network.ts";
import { stateShapes } from "../../src/model/state.ts";
import { createParameters } from "../../src/nn/module.ts";
import { createRandom } from "../../src/random.ts";
import { tiny } from "../helpers/network.ts";

// What PAPER.md chose where the paper is open, read off the tensors of the network.

const shapes = stateShapes(base);
const shape = (name: string): readonly number[] | undefined => shapes.get(`${name}.weight`);

test("V has 32 channels at every scale, so V* has 64; DFV's taper from 128 to 16", () => {
  for (const [scale, width] of [
    ["4", 64],
    ["8", 128],
    ["16", 256],
    ["32", 512],
  ] as const)
    // prettier-ignore
    assert.deepEqual(shape(`encoder.pyramid.project${scale}.conv`), [32, width, 1, 1]);
  assert.deepEqual(shape("variational.gradientHead.inner"), [64, 64, 3, 3]);
  assert.deepEqual(dfv.encoder.out, [16, 32, 64, 128]);
});

test("Γ has 2 × 16 fields a plane, θ_grad is one 3×3 convolution of z*, and z* is expanded to 128 channels before fusion", () => {
  assert.deepEqual(shape("variational.gradientHead.outer"), [32, 64, 3, 3]);
  assert.deepEqual(shape("variational.surfaceGradientHead"), [2, 16, 3, 3]);
  assert.deepEqual(shape("variational.expand"), [128, 16, 3, 3]);
  assert.equal(base.surface?.solver, "cosine");
  assert.equal(shape("variational.confidenceHead.outer"), undefined);
});

test("the decoder is a cascade: 192 → 256, up to 128; 192 → 128, up to 64; 128 → 64; all three, 448 channels, into the head", () => {
  assert.deepEqual(shape("decoder.fuse16.0.first.conv"), [256, 64 + 128, 3, 3, 3]);
  assert.deepEqual(shape("decoder.to8.conv"), [128, 256, 3, 3, 3]);
  assert.deepEqual(shape("decoder.fuse8.0.first.conv"), [128, 64 + 128, 3, 3, 3]);
  assert.deepEqual(shape("decoder.to4.conv"), [64, 128, 3, 3, 3]);
  assert.deepEqual(shape("decoder.fuse4.0.first.conv"), [64, 64 + 64, 3, 3, 3]);
  assert.deepEqual(shape("decoder.head.conv"), [64, 256 + 128 + 64, 3, 3, 3]);
  assert.deepEqual(shape("decoder.logit"), [1, 64, 3, 3, 3]);
});

test("a batch of one stack trains: no branch is left with a single value to normalise", () => {
  const engine = createTorchEngine({ threads: 1 });
  const narrow = { ...tiny, encoder: { ...base.encoder, widths: tiny.encoder.widths, out: tiny.encoder.out } };
  const tree = createParameters(engine, { random: createRandom(1) });
  const network = createNetwork(tree.source, narrow);
  tree.mode.training = true;
  scope(() => {
    const { depth } = network.forward({ images: engine.full([1, 2, 3, 64, 64], 0.5), focusDistances: engine.constant([1, 2], { shape: [1, 2] }) }); // prettier-ignore
    assert.deepEqual(depth.shape, [1, 1, 64, 64]);
  });
});
