import type { Weights } from "../../src/io/safetensors.ts";
import { createParameters } from "../../src/nn/module.ts";
import { small, type DualFocusConfig, type NetworkConfig } from "../../src/model/config.ts";
import { createNetwork } from "../../src/model/network.ts";
import type { TorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createRandom, type Random } from "../../src/random.ts";

/** `small`'s wiring with eight channels everywhere and no optional parts: for tests that need a network, but no good one. */
export const tiny: DualFocusConfig = {
  kind: "dualfocus",
  encoder: { ...small.encoder, widths: [8, 8, 8, 8], out: [4, 4, 4, 4] },
  surface: small.surface,
  coarse: 8,
  fusion: [8, 8, 8],
  upChannels: [8, 8],
  upKernel: small.upKernel,
  head: small.head,
};

/** The same with what is ours in the decoder. */
export const tinyWithImages: DualFocusConfig = {
  ...tiny,
  detail: { filters: 3 },
  planeContext: { width: 4 },
  convexUpsampling: { width: 8 },
};

/** Random weights whose batch-norm statistics, and layers that start at zero, are random too, so that folding or wiring them wrongly shows. */
export function randomWeights(engine: TorchEngine, config: NetworkConfig, seed = 1): Weights {
  const tree = createParameters(engine, { random: cheap(createRandom(seed)) });
  createNetwork(tree.source, config);
  const random = createRandom(seed).split("statistics");
  const weights = new Map(
    [...tree.state].map(([name, tensor]) => {
      const data = new Float32Array(engine.read(tensor) as Float32Array);
      if (name.endsWith("running_mean")) data.forEach((_, i) => (data[i] = 0.1 * random.normal()));
      if (name.endsWith("running_var")) data.forEach((_, i) => (data[i] = 0.5 + random.uniform()));
      if (name.endsWith(".weight") && data.every((value) => value === 0)) data.forEach((_, i) => (data[i] = 0.01 * random.normal()));
      return [name, { shape: tensor.shape as readonly number[], data }];
    }),
  );
  for (const tensor of tree.state.values()) tensor.dispose();
  return weights;
}

const NORMALS = Float64Array.from(
  { length: 65_537 },
  (
    (random) => () =>
      random.normal()
  )(createRandom(3)),
);

/** A generator whose normal numbers come from a table, each sequence from a place of its own: tens of millions are wanted, in every test file. */
function cheap(random: Random): Random {
  let at = random.integer(NORMALS.length);
  return {
    ...random,
    normal: () => NORMALS[(at = (at + 1) % NORMALS.length)] as number,
    split: (name) => cheap(random.split(name)),
  };
}

/** Focal-stack-like pictures [B, N, 3, H, W]: smooth waves that differ from plane to plane, with noise. */
export function randomImages({ B, N, H, W }: { B: number; N: number; H: number; W: number }, seed = 2): Float32Array {
  const random = createRandom(seed);
  const data = new Float32Array(B * N * 3 * H * W);
  for (let i = 0; i < data.length; i++) {
    const [x, y, picture] = [i % W, Math.floor(i / W) % H, Math.floor(i / (W * H))];
    data[i] = Math.min(1, Math.max(0, 0.5 + 0.3 * Math.sin(x / 3 + picture) * Math.cos(y / 5 - picture) + 0.1 * random.normal()));
  }
  return data;
}
