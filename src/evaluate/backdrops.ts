import type { Dataset, Sample, Wall } from "../data/dataset.ts";
import { listDataset } from "../data/dataset.ts";
import { renderDepth, renderJob } from "../optics/render/kernel.ts";
import { noisy, wallNoise } from "../optics/render/noise.ts";
import type { Rendering } from "../optics/render/render.ts";
import { packScenes } from "../optics/scene/pack.ts";
import type { Scene } from "../optics/scene/scene.ts";
import type { TextureSet } from "../optics/texture/texture.ts";
import { createRandom } from "../random.ts";
import { choosePlanes } from "../stack/focalStack.ts";
import { planeIndexOf } from "./planeUnits.ts";
import { type BenchmarkOptions, checkPlanes, PHONE_PLANES, phoneScene, rendererOf, SAMPLES } from "./renderedBenchmarks.ts";
import { sampleOf } from "./renderedSet.ts";
import { besideObjects } from "./silhouette.ts";

/*
 * Objects on a table in front of a wall without any texture, as phones take them. Nothing tells the wall's depth but where it meets the table:
 * networks carry the depth of an object over to the wall beside it.
 */

/** What differs less from the wall's depth, as a share of it, is the wall: the renderers round to 32 bits. */
const SAME = 1e-5;
/** What is nearer than table and wall by this share of their depth is an object. */
const EDGE = 1e-3;
/** Share of the picture that must be wall beside objects for a scene to show anything. */
const LEAST_BESIDE = 0.02;

/** Such stacks by their seeds. */
export interface BackdropStacks {
  /** Whether the wall lies within half a plane of the planes and can be seen beside objects. */
  readonly showsWall: (seed: number) => boolean;
  readonly draw: (seed: number) => Sample;
}

/** One implementation for this benchmark and for the calibration of claimed errors. Planes are chosen of the ten that are drawn. */
export function backdropStacks({ planes = 5, size = 256, samples = SAMPLES, ...options }: BenchmarkOptions): BackdropStacks {
  checkPlanes("backdrop", planes, { most: PHONE_PLANES });
  const { textures, render } = rendererOf("backdrop", options);
  const chosen = choosePlanes(PHONE_PLANES, planes);
  const sceneOf = (seed: number): Scene => phoneScene(seed, { size, themes: ["backdrop"] });
  return {
    showsWall(seed) {
      const scene = sceneOf(seed);
      const { pixels, objects } = wallOf(scene, { depth: depthOf(scene, textures), textures });
      const beside = besideObjects(objects, scene.camera).filter((is, i) => is && pixels[i]);
      const isWithin = planeIndexOf(scene.focusDistances, endsOf(scene).wall.centre[2]) <= PHONE_PLANES - 0.5;
      return isWithin && beside.length >= LEAST_BESIDE * pixels.length;
    },
    draw(seed) {
      const scene = sceneOf(seed);
      const rendering = photographed(render(scene, samples), seed);
      return { ...sampleOf(`seed ${seed}`, rendering, chosen), wall: wallOf(scene, { depth: rendering.depth.values, textures }) };
    },
  };
}

/** The first scenes from a seed on that show the wall: the same for every number of planes. */
export function openBackdrops({ scenes = 24, firstSeed: first = 8_000_000, ...options }: BenchmarkOptions): Dataset {
  const { planes = 5, size = 256, samples = SAMPLES } = options;
  const { showsWall, draw } = backdropStacks(options);
  const seeds: number[] = [];
  for (let seed = first; seeds.length < scenes; seed++) if (showsWall(seed)) seeds.push(seed);
  const protocol =
    `the first ${scenes} seeds from ${first} to ${String(seeds.at(-1))} whose wall is within the planes and seen beside objects, ${size}×${size}, ` +
    `${samples} rays per pixel, textures of their own, planes ${choosePlanes(PHONE_PLANES, planes).join(" ")} of ${PHONE_PLANES}, 0.4 to 3 pixels of blur ` +
    `between neighbours of the ${PHONE_PLANES}, noise of photographed walls; truth in metres, valid within half a plane of the stack's range`;
  return listDataset({ name: "backdrop", split: "test", protocol, licence: "made here" }, seeds, draw);
}

/** With the noise of a photographed wall, drawn for all planes, so that those chosen of them do not change it. */
function photographed({ stack, ...rest }: Rendering, seed: number): Rendering {
  const random = createRandom(seed).split("noise");
  const noise = wallNoise(random);
  return { ...rest, stack: { ...stack, images: stack.images.map((frame) => noisy(frame, noise, random)) } };
}

type Plane = Extract<Scene["primitives"][number], { readonly kind: "plane" }>;

/** Between them in the list are the objects. */
function endsOf({ primitives }: Scene): { readonly table: Plane; readonly wall: Plane } {
  const [table, wall] = [primitives[0], primitives.at(-1)];
  if (table?.kind !== "plane" || wall?.kind !== "plane")
    throw new TypeError("backdropStacks: the scene does not begin with its table and end with its wall");
  return { table, wall };
}

/** `depth` is that of the scene. */
function wallOf(scene: Scene, { depth, textures }: { readonly depth: Float32Array; readonly textures: TextureSet }): Wall {
  const { table, wall } = endsOf(scene);
  const empty = depthOf({ ...scene, primitives: [table, wall] }, textures);
  const [, , behind] = wall.centre;
  return {
    pixels: Uint8Array.from(depth, (value) => (Math.abs(value - behind) <= SAME * behind ? 1 : 0)),
    objects: Uint8Array.from(depth, (value, i) => (value < (empty[i] as number) * (1 - EDGE) ? 1 : 0)),
  };
}

/** Without its images. */
function depthOf(scene: Scene, textures: TextureSet): Float32Array {
  const depth = new Float32Array(scene.camera.width * scene.camera.height);
  renderDepth(renderJob(packScenes([scene]), 0, { textures, samples: 1 }), depth);
  return depth;
}
