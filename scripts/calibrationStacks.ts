import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deserialize, serialize } from "node:v8";

import { createRenderer } from "../src/cli/renderHost.ts";
import { openDataset } from "../src/data/open.ts";
import { backdropStacks } from "../src/evaluate/backdrops.ts";
import { openPhone } from "../src/evaluate/renderedBenchmarks.ts";
import { spreadIndices } from "../src/evaluate/run.ts";
import type { DepthMap } from "../src/image/depthMap.ts";
import type { Image } from "../src/image/image.ts";
import { bareContrast, withBareParts } from "../src/optics/render/bare.ts";
import { noisy, wallNoise, type Noise } from "../src/optics/render/noise.ts";
import { DEFAULT_SAMPLES } from "../src/optics/render/render.ts";
import { randomScene } from "../src/optics/scene/random.ts";
import { generateTextures, splitTextures } from "../src/optics/texture/texture.ts";
import { createRandom, type Random } from "../src/random.ts";
import { choosePlanes, selectPlanes, type FocalStack } from "../src/stack/focalStack.ts";
import { writeAtomically } from "../src/system/atomicFile.ts";

/** A stack with its true depth. */
export interface CalibrationStack {
  readonly kind: string;
  /** 0 or 1: each half is measured with the model fitted on the other. */
  readonly half: number;
  readonly stack: FocalStack;
  readonly trueDepth: DepthMap;
}

/** Each stack with ten planes, and with five of them. */
const [FEW, MOST] = [5, 10] as const;
const SIDE = 256;

type Drawn = Pick<CalibrationStack, "stack" | "trueDepth">;

/** Of the first scenes; those of the benchmarks and of training are others. */
const FIRST_SEEDS = { rendered: 3_000_000, phone: 3_100_000, bare: 3_200_000, backdrop: 3_300_000 } as const;

function phoneStacks(firstSeed: number): (seed: number) => Promise<Drawn> {
  const set = openPhone({ planes: MOST, scenes: 1000, firstSeed, createRenderer });
  return (seed) => set.sample(seed - firstSeed);
}

const withFrames = ({ stack, trueDepth }: Drawn, change: (frames: readonly Image[]) => readonly Image[]): Drawn => ({
  stack: { ...stack, images: change(stack.images) },
  trueDepth,
});

const withNoise = (drawn: Drawn, noise: Noise, random: Random): Drawn =>
  withFrames(drawn, (frames) => frames.map((frame) => noisy(frame, noise, random)));

/** Draw a scene by its seed. */
const PAINTERS = {
  /** Textures not used in training, half of the scenes with the flaws of real stacks. */
  rendered(): (seed: number) => Promise<Drawn> {
    const textures = generateTextures();
    const { test } = splitTextures(textures.count);
    const render = createRenderer(textures);
    return (seed) => {
      const scene = randomScene(seed, { planes: MOST, width: SIDE, height: SIDE, textures: test, imperfect: 0.5 });
      const { stack, depth } = render(scene, DEFAULT_SAMPLES);
      return Promise.resolve({ stack, trueDepth: depth });
    };
  },
  /** As phones take them, with the slow noise of photographs. */
  phone(): (seed: number) => Promise<Drawn> {
    const draw = phoneStacks(FIRST_SEEDS.phone);
    return async (seed) => {
      const random = createRandom(seed).split("noise");
      const noise = { white: 0, slow: 0.0005 * 8 ** random.uniform() }; // a phone's wall: 0.001 to 0.0015
      return withNoise(await draw(seed), noise, random);
    };
  },
  /** The same with parts that show nothing of focus but noise, as a phone's wall does. */
  bare(): (seed: number) => Promise<Drawn> {
    const draw = phoneStacks(FIRST_SEEDS.bare);
    return async (seed) => {
      const random = createRandom(seed).split("bare");
      const noise = wallNoise(random);
      const bared = withFrames(await draw(seed), (frames) => withBareParts(frames, bareContrast(frames[0] as Image, random)));
      return withNoise(bared, noise, random);
    };
  },
  /** Objects in front of a wall that shows nothing but that noise, as phones take them. */
  backdrop(): (seed: number) => Promise<Drawn> {
    const { draw } = backdropStacks({ planes: MOST, createRenderer });
    return (seed) => {
      const { stack, trueDepth } = draw(seed);
      return Promise.resolve({ stack, trueDepth });
    };
  },
} as const;

/** Rendered stacks. They are kept in the folder `cache`: rendering takes long, and does not depend on the network. */
export async function* renderedStacks(
  kind: keyof typeof PAINTERS,
  { scenes, cache }: { readonly scenes: number; readonly cache: string },
): AsyncGenerator<CalibrationStack> {
  const folder = join(cache, rendererMark());
  let draw: ((seed: number) => Promise<Drawn>) | undefined; // textures are made for the first stack that is not there
  for (let i = 0; i < scenes; i++) {
    const seed = FIRST_SEEDS[kind] + i;
    const { stack, trueDepth } = await kept(join(folder, `${seed}.bin`), () => (draw ??= PAINTERS[kind]())(seed));
    for (const planes of [FEW, MOST]) yield { kind, half: i % 2, stack: selectPlanes(stack, choosePlanes(MOST, planes)), trueDepth };
  }
}

/** Changes with the code that renders. */
function rendererMark(): string {
  const root = join(import.meta.dirname, "..");
  const optics = readdirSync(join(root, "src/optics"), { recursive: true, encoding: "utf8" }).map((name) => join("src/optics", name));
  const files = [
    ...optics,
    "src/random.ts",
    "src/evaluate/renderedBenchmarks.ts",
    "src/evaluate/backdrops.ts",
    "scripts/calibrationStacks.ts",
  ];
  const hash = createHash("sha256");
  for (const file of files.filter((name) => name.endsWith(".ts")).sort()) hash.update(readFileSync(join(root, file)));
  return hash.digest("hex").slice(0, 12);
}

/** What the file holds, or else is made and written to it. */
async function kept(file: string, make: () => Promise<Drawn>): Promise<Drawn> {
  if (existsSync(file)) return deserialize(readFileSync(file)) as Drawn;
  const made = await make();
  mkdirSync(dirname(file), { recursive: true });
  await writeAtomically(file, serialize(made));
  return made;
}

/** Stacks of a set, spread over it. */
export async function* stacksOf(
  kind: "hci" | "nyu",
  { data, split, limit }: { readonly data: string; readonly split: "all" | "train"; readonly limit: number },
): AsyncGenerator<CalibrationStack> {
  for (const planes of [FEW, MOST]) {
    const set = await openDataset(kind, data, { split, planes });
    for (const [i, index] of spreadIndices(set.size, limit).entries()) {
      const { stack, trueDepth } = await set.sample(index);
      yield { kind, half: i % 2, stack, trueDepth };
    }
    set.close();
  }
}
