import type { Dataset, Sample } from "../data/dataset.ts";
import { DatasetError, listDataset } from "../data/dataset.ts";
import { DEFAULT_SAMPLES, type Rendering, renderScene } from "../optics/render/render.ts";
import type { Scene } from "../optics/scene/scene.ts";
import { randomScene } from "../optics/scene/random.ts";
import { splitTextures, type TextureSet } from "../optics/texture/texture.ts";
import { choosePlanes, selectPlanes } from "../stack/focalStack.ts";
import { loadTextures } from "../train/textures.ts";
import { inPlanes } from "./planeUnits.ts";

const RENDERED_PLANES = 10;
const DEFAULT_SCENES = 32;
const SIDE = 256;
/** Seeds of the benchmark: fixed, so that numbers can be compared between versions. */
const BENCHMARK_SEED = 1_000_000;

/** Renders scenes with one set of textures: the plain renderer, or a faster one with the same output. */
export type CreateRenderer = (textures: TextureSet) => (scene: Scene, samples: number) => Rendering;

export const plainRenderer: CreateRenderer = (textures) => (scene, samples) => renderScene(scene, { textures, samples });

export interface RenderedOptions {
  /** Chosen from the ten that are rendered, so that all plane counts use the same scenes. */
  readonly planes?: number | undefined;
  readonly textures?: string | undefined;
  readonly scenes?: number | undefined;
  /** Seed of the first scene. Default: that of the benchmark. */
  readonly firstSeed?: number;
  readonly size?: number;
  readonly samples?: number;
  readonly createRenderer?: CreateRenderer | undefined;
}

/** Rendered stacks with exact depth: fixed seeds, textures not used in training, half of the scenes with the flaws of real stacks. */
export async function openRendered(options: RenderedOptions): Promise<Dataset> {
  const { planes = 5, scenes = DEFAULT_SCENES, firstSeed = BENCHMARK_SEED, size = SIDE, samples = DEFAULT_SAMPLES } = options;
  const { createRenderer = plainRenderer } = options;
  if (!(Number.isInteger(planes) && planes >= 2 && planes <= RENDERED_PLANES))
    throw new DatasetError(`render: ${planes} planes asked for; each scene has ${RENDERED_PLANES} to choose from`);
  const textures = await loadTextures(options.textures);
  const { test } = splitTextures(textures.count);
  const render = createRenderer(textures);
  const chosen = choosePlanes(RENDERED_PLANES, planes);
  const images = options.textures === undefined ? "generated textures" : `generated textures and images from ${options.textures}`;
  const protocol =
    `seeds ${firstSeed} to ${firstSeed + scenes - 1}, ${size}×${size}, ${samples} rays per pixel, held-out ${images}, ` +
    `planes ${chosen.join(" ")} of ${RENDERED_PLANES}; truth in metres, valid within half a plane of the stack's range`;
  const seeds = Array.from({ length: scenes }, (_, i) => firstSeed + i);
  const about = { name: "render", split: "test", protocol, licence: "made here" } as const;
  const draw = (seed: number): Promise<Sample> => {
    const scene = randomScene(seed, { planes: RENDERED_PLANES, width: size, height: size, textures: test, imperfect: 0.5 });
    return Promise.resolve(sampleOf(`seed ${seed}`, render(scene, samples), chosen));
  };
  return listDataset(about, seeds, draw, { files: () => (options.textures === undefined ? [] : [options.textures]) });
}

export function sampleOf(name: string, rendering: Rendering, chosen: readonly number[]): Sample {
  const stack = selectPlanes(rendering.stack, chosen);
  const { valid } = inPlanes(rendering.depth, stack.focusDistances, { within: 0.5 });
  return { name, stack, trueDepth: { ...rendering.depth, valid } };
}
