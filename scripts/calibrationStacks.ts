import { renderHost } from "../src/cli/renderHost.ts";
import { openDataset } from "../src/data/open.ts";
import { openPhone } from "../src/evaluate/renderedBenchmarks.ts";
import type { CreateRenderer } from "../src/evaluate/renderedSet.ts";
import { spreadIndices } from "../src/evaluate/run.ts";
import type { DepthMap } from "../src/image/depthMap.ts";
import { DEFAULT_SAMPLES } from "../src/optics/render/render.ts";
import { randomScene } from "../src/optics/scene/random.ts";
import { generateTextures, splitTextures } from "../src/optics/texture/texture.ts";
import { choosePlanes, selectPlanes, type FocalStack } from "../src/stack/focalStack.ts";

/** A stack with its true depth. */
export interface CalibrationStack {
  readonly kind: string;
  /** 0 or 1: each half is measured with the model fitted on the other. */
  readonly half: number;
  readonly stack: FocalStack;
  readonly trueDepth: DepthMap;
}

/** Each stack with ten planes, and with five of them. */
const PLANES = [5, 10] as const;
/** Of the first scenes; those of the benchmarks and of training are others. */
const [FIRST_SEED, FIRST_PHONE_SEED] = [3_000_000, 3_100_000];
const SIDE = 256;

/** Rendered stacks: textures not used in training, half of them with the flaws of real ones. */
export async function* renderedStacks(scenes: number): AsyncGenerator<CalibrationStack> {
  const textures = generateTextures();
  const { test } = splitTextures(textures.count);
  const host = renderHost("auto", textures);
  const most = Math.max(...PLANES);
  for (let i = 0; i < scenes; i++) {
    await Promise.resolve();
    const scene = randomScene(FIRST_SEED + i, { planes: most, width: SIDE, height: SIDE, textures: test, imperfect: 0.5 });
    const { stack, depth } = host.render(scene, DEFAULT_SAMPLES);
    for (const planes of PLANES)
      yield { kind: "rendered", half: i % 2, stack: selectPlanes(stack, choosePlanes(most, planes)), trueDepth: depth };
  }
}

/** Stacks as phones take them, of other scenes than the benchmark's. */
export async function* phoneStacks(scenes: number): AsyncGenerator<CalibrationStack> {
  const createRenderer: CreateRenderer = (textures) => {
    const host = renderHost("auto", textures);
    return (scene, samples) => host.render(scene, samples);
  };
  for (const planes of PLANES) {
    const set = openPhone({ planes, scenes, firstSeed: FIRST_PHONE_SEED, createRenderer });
    for (let i = 0; i < set.size; i++) yield { kind: "phone", half: i % 2, ...(await set.sample(i)) };
  }
}

/** Stacks of a set, spread over it. */
export async function* stacksOf(
  kind: "hci" | "nyu",
  { data, split, limit }: { readonly data: string; readonly split: "all" | "train"; readonly limit: number },
): AsyncGenerator<CalibrationStack> {
  for (const planes of PLANES) {
    const set = await openDataset(kind, data, { split, planes });
    for (const [i, index] of spreadIndices(set.size, limit).entries()) {
      const { stack, trueDepth } = await set.sample(index);
      yield { kind, half: i % 2, stack, trueDepth };
    }
    set.close();
  }
}
