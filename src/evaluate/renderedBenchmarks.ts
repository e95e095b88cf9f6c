import type { Dataset, Sample } from "../data/dataset.ts";
import { DatasetError, listDataset } from "../data/dataset.ts";
import type { Rendering } from "../optics/render/render.ts";
import { randomScene } from "../optics/scene/random.ts";
import type { Scene } from "../optics/scene/scene.ts";
import type { Theme } from "../optics/scene/themes.ts";
import { isDense } from "../optics/texture/paint.ts";
import { generateTextures, type TextureSet } from "../optics/texture/texture.ts";
import { choosePlanes } from "../stack/focalStack.ts";
import { plainRenderer, sampleOf, type RenderedOptions } from "./renderedSet.ts";

/*
 * Rendered benchmarks of what `render` does not hold: one object in front of a plain background in a long sweep, and stacks as phones take
 * them; backdrops.ts has objects in front of a bare wall. Seeds, sizes and textures are fixed, so that numbers can be compared between versions.
 */

/** Painted from a seed that training does not use. */
const TEXTURES = { count: 48, seed: 17 };
export const SAMPLES = 64;
const EDGE = 1e-3; // what is nearer than the background by this share of its depth is the object

export type BenchmarkOptions = Omit<RenderedOptions, "size"> & { readonly size?: number };

/** One object in front of a plain background: the same scenes and lens for every number of planes. */
export function openObjects({ planes = 24, scenes = 6, size = 256, samples = 192, ...options }: BenchmarkOptions): Dataset {
  checkPlanes("object", planes, { most: 100 });
  const { render } = rendererOf("object", options);
  const [first, most] = [6_000_000, 44];
  const textures = Array.from({ length: TEXTURES.count }, (_, i) => i).filter(isDense);
  const sweep = { planes: most, blur: [1, 2.6] } as const;
  const draw = (seed: number): Sample => {
    const scene = randomScene(seed, { width: size, height: size, textures, theme: "subject", sweep });
    const focusDistances = spreadPlanes(scene.focusDistances, planes);
    return objectSample(`seed ${seed}`, render({ ...scene, focusDistances }, samples), scene);
  };
  const protocol =
    `seeds ${first} to ${first + scenes - 1}, ${size}×${size}, ${samples} rays per pixel, textures of their own, ${planes} planes evenly in ` +
    `dioptres over 43 to 112 pixels of blur; truth of the object alone, in metres`;
  return madeSet("object", { first, scenes, protocol, draw });
}

const PHONE_THEMES: readonly Theme[] = ["wall", "wall", "wall", "room", "room", "desk", "desk", "plain", "clutter", "subject"];
export const PHONE_PLANES = 10;

/** A scene as a phone takes it, with `PHONE_PLANES` planes. */
export function phoneScene(seed: number, { size, themes }: { readonly size: number; readonly themes: readonly Theme[] }): Scene {
  const textures = Array.from({ length: TEXTURES.count }, (_, i) => i);
  const look = { width: size, height: size, textures, themes, metres: [0.1, 1.5], blur: [0.4, 3], phone: 1 } as const;
  return randomScene(seed, { planes: PHONE_PLANES, ...look });
}

/** Stacks as phones take and process them, with little blur between planes and large bare surfaces. */
export function openPhone({
  planes = 5,
  scenes = 24,
  firstSeed: first = 7_000_000,
  size = 256,
  samples = SAMPLES,
  ...options
}: BenchmarkOptions): Dataset {
  checkPlanes("phone", planes, { most: PHONE_PLANES });
  const { render } = rendererOf("phone", options);
  const chosen = choosePlanes(PHONE_PLANES, planes);
  const draw = (seed: number): Sample =>
    sampleOf(`seed ${seed}`, render(phoneScene(seed, { size, themes: PHONE_THEMES }), samples), chosen);
  const protocol =
    `seeds ${first} to ${first + scenes - 1}, ${size}×${size}, ${samples} rays per pixel, textures of their own, planes ${chosen.join(" ")} of ` +
    `${PHONE_PLANES}, 0.4 to 3 pixels of blur between neighbours of the ${PHONE_PLANES}; truth in metres, valid within half a plane of the stack's range`;
  return madeSet("phone", { first, scenes, protocol, draw });
}

export function checkPlanes(name: string, planes: number, { most }: { readonly most: number }): void {
  if (!(Number.isInteger(planes) && planes >= 2 && planes <= most))
    throw new DatasetError(`${name}: ${planes} planes asked for; expected 2 to ${most}`);
}

interface Renderer {
  readonly textures: TextureSet;
  readonly render: (scene: Scene, samples: number) => Rendering;
}

export function rendererOf(name: string, { textures: folder, createRenderer = plainRenderer }: BenchmarkOptions): Renderer {
  if (folder !== undefined) throw new DatasetError(`${name}: its textures are fixed; only render takes images from a folder`);
  const textures = generateTextures(TEXTURES);
  return { textures, render: createRenderer(textures) };
}

interface Made {
  readonly first: number;
  readonly scenes: number;
  readonly protocol: string;
  readonly draw: (seed: number) => Sample;
}

function madeSet(name: string, { first, scenes, protocol, draw }: Made): Dataset {
  const seeds = Array.from({ length: scenes }, (_, i) => first + i);
  return listDataset({ name, split: "test", protocol, licence: "made here" }, seeds, draw);
}

/** `planes` distances over the same range, evenly in dioptres. */
function spreadPlanes(focusDistances: readonly number[], planes: number): number[] {
  const [first, last] = [1 / (focusDistances[0] as number), 1 / (focusDistances.at(-1) as number)];
  return Array.from({ length: planes }, (_, n) => 1 / (first + ((last - first) * n) / (planes - 1)));
}

/** What the background's depth is, no stack can show. */
function objectSample(name: string, { stack, depth }: Rendering, { primitives }: Scene): Sample {
  const background = primitives.at(-1);
  if (background?.kind !== "plane") throw new TypeError("objectSample: the scene does not end with its background");
  const object = Uint8Array.from(depth.values, (value) => (value < background.centre[2] * (1 - EDGE) ? 1 : 0));
  return { name, stack, trueDepth: { ...depth, valid: object }, object };
}
