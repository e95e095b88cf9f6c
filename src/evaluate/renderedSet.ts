import type { Dataset, Sample } from "../data/dataset.ts";
import { DatasetError, listDataset } from "../data/dataset.ts";
import type { TorchEngine } from "../engine/torch.ts";
import { EngineError } from "../engine/errors.ts";
import { lensTextures, renderLens } from "../engine/lens.ts";
import { keep, scope } from "../engine/scope.ts";
import { createTorchEngine } from "../engine/torch.ts";
import { assembleRendering, DEFAULT_SAMPLES, interleave, type Rendering, renderScene } from "../optics/render.ts";
import type { Scene } from "../optics/scene.ts";
import { packScenes } from "../optics/scenePack.ts";
import { randomScene } from "../optics/sceneRandom.ts";
import { splitTextures, type TextureSet } from "../optics/texture.ts";
import { choosePlanes, selectPlanes } from "../stack.ts";
import { loadTextures } from "../train/textures.ts";
import { inPlanes } from "./planeUnits.ts";

const RENDERED_PLANES = 10;
const DEFAULT_SCENES = 32;
const SIDE = 256;
/** Seeds of the benchmark: fixed, so that numbers can be compared between versions. */
const FIRST_SEED = 1_000_000;

export interface RenderedOptions {
  /** Chosen of the ten that are rendered, so that every number of planes sees the same scenes. */
  readonly planes?: number | undefined;
  readonly textures?: string | undefined;
  readonly scenes?: number | undefined;
  readonly size?: number;
  readonly samples?: number;
}

/** Rendered stacks with exact depth: fixed seeds, textures that training never uses, half of the scenes with the flaws of real stacks. */
export async function openRendered(options: RenderedOptions): Promise<Dataset> {
  const { planes = 5, scenes = DEFAULT_SCENES, size = SIDE, samples = DEFAULT_SAMPLES } = options;
  if (!(Number.isInteger(planes) && planes >= 2 && planes <= RENDERED_PLANES))
    throw new DatasetError(`render: ${planes} planes asked for; each scene has ${RENDERED_PLANES} to choose from`);
  const textures = await loadTextures(options.textures);
  const { test } = splitTextures(textures.count);
  const render = createRenderer(textures, samples);
  const chosen = choosePlanes(RENDERED_PLANES, planes);
  const pictures = options.textures === undefined ? "generated textures" : `generated textures and pictures of ${options.textures}`;
  const protocol =
    `seeds ${FIRST_SEED} to ${FIRST_SEED + scenes - 1}, ${size}×${size}, ${samples} rays a pixel, held-out ${pictures}, ` +
    `planes ${chosen.join(" ")} of ${RENDERED_PLANES}; truth in metres, valid within half a plane of the stack's range`;
  const seeds = Array.from({ length: scenes }, (_, i) => FIRST_SEED + i);
  return listDataset({ name: "render", split: "test", protocol, licence: "made here" }, seeds, (seed) => {
    const scene = randomScene(seed, { planes: RENDERED_PLANES, width: size, height: size, textures: test, imperfect: 0.5 });
    return Promise.resolve(sampleOf(`seed ${seed}`, render(scene), chosen));
  });
}

function sampleOf(name: string, rendering: Rendering, chosen: readonly number[]): Sample {
  const stack = selectPlanes(rendering.stack, chosen);
  const { valid } = inPlanes(rendering.depth, stack.focusDistances, { within: 0.5 });
  return { name, stack, trueDepth: { ...rendering.depth, valid } };
}

/** The native renderer where it is built, else the one in TypeScript: the same pictures, a hundred times slower. */
function createRenderer(textures: TextureSet, samples: number): (scene: Scene) => Rendering {
  let engine: TorchEngine;
  try {
    engine = createTorchEngine();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return (scene) => renderScene(scene, { textures, samples });
  }
  const loaded = keep(lensTextures(engine, textures));
  return (scene) => scope(() => renderNatively(engine, scene, { textures: loaded, samples }));
}

function renderNatively(
  engine: TorchEngine,
  scene: Scene,
  { textures, samples }: { textures: ReturnType<typeof lensTextures>; samples: number },
): Rendering {
  const { width, height } = scene.camera;
  const { images, allInFocus, depth } = renderLens(engine, packScenes([scene]), { textures, samples });
  const planar = engine.read(images) as Float32Array;
  const length = 3 * width * height;
  const pictures = scene.focusDistances.map((_, n) => interleave(planar.subarray(n * length, (n + 1) * length), width, height));
  const pinhole = interleave(engine.read(allInFocus) as Float32Array, width, height);
  return assembleRendering(scene, { pictures: [...pictures, pinhole], depth: engine.read(depth) as Float32Array });
}
