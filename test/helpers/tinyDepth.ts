import type * as api from "../../src/everywhere.ts";
import type { openNetwork } from "../../src/browser.ts";
import type { openNetwork as openInNode } from "../../src/index.ts";

type Package = typeof api & { readonly openNetwork: typeof openNetwork | typeof openInNode };

/** A rendered stack of three planes, 60×44 pixels, given the package it is to be made with. */
export function tinyStack({ randomScene, renderScene, generateTextures }: typeof api): api.FocalStack {
  const textures = generateTextures({ count: 4 });
  const scene = randomScene(3, { width: 60, height: 44, planes: 3, textures: [0, 1, 2, 3] });
  return renderScene(scene, { textures, samples: 4 }).stack;
}

/** Depth of that stack by a new network, everything through the public API alone. */
export async function tinyDepth(given: Package, options: { threads: number; wasmPath?: string }): Promise<api.DepthEstimate> {
  const config = given.configs.small;
  const weights = given.initialWeights(config, given.createRandom(1));
  const network = await given.openNetwork({ config, weights, facts: {} }, options);
  try {
    return await given.estimateDepth(tinyStack(given), { network });
  } finally {
    await network.dispose();
  }
}
