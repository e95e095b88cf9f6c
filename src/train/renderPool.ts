import { setImmediate } from "node:timers/promises";
import type { Tensor } from "../engine/engine.ts";
import { lensTextures, renderLens } from "../engine/lens.ts";
import { keep, scope } from "../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch.ts";
import { PRIMITIVES_PER_SCENE, randomScene } from "../optics/sceneRandom.ts";
import { packScenes } from "../optics/scenePack.ts";
import { splitTextures, type TextureSet } from "../optics/texture.ts";
import { createRandom, type Random } from "../random.ts";
import type { RenderData } from "./config.ts";
import { gatherBlurs } from "./deviceBlur.ts";

/** Rendered stacks on the device, for batches to be drawn from. */
export interface StackPool {
  readonly size: number;
  readonly planes: number;
  /** Of the square pictures, in pixels. */
  readonly side: number;
  /** u8 [size · planes, 3, side, side]: the planes of stack i are rows i · planes to (i + 1) · planes. */
  readonly images: TorchTensor;
  /** Metres, 0 where there is nothing; f32 [size, 1, side, side]. */
  readonly depth: TorchTensor;
  /** Metres, increasing; f32 [size, planes]. */
  readonly focusDistances: TorchTensor;
  /** Brings the pool to how it stands before `step`: rendered from nothing the first time, then the oldest stacks anew. */
  advance(step: number): Promise<void>;
}

export interface PoolOptions {
  readonly data: Pick<RenderData, "refresh" | "planes" | "size" | "samples" | "blur" | "imperfect" | "gather">;
  readonly count: number;
  readonly textures: TextureSet;
  /** Which textures: those of training, or those held out. */
  readonly split: "train" | "test";
  readonly seed: number;
  readonly onProgress?: (done: number, count: number) => void;
}

const CHUNK = 48; // scenes rendered at a time: enough to fill a GPU
const PINHOLE_SAMPLES = 16; // rays per pixel of the sharp picture that a gather blurs

/**
 * Slot i holds scene i first, then scene i + count, i + 2 count, …: what is in the pool follows from the step alone, so a resumed
 * run trains on the same stacks without saving them.
 */
export function createRenderPool(engine: TorchEngine, options: PoolOptions): StackPool {
  const { data, count, onProgress } = options;
  const { planes, size: side, refresh } = data;
  const empty = (shape: readonly number[], dtype: "u8" | "f32"): TorchTensor =>
    keep(engine.compute("aten::zeros", shape, dtype, null, engine.device));
  const pool = {
    images: empty([count * planes, 3, side, side], "u8"),
    depth: empty([count, 1, side, side], "f32"),
    focusDistances: empty([count, planes], "f32"),
  };
  const studio = createStudio(engine, options);
  const put = (scenes: readonly number[]): void => {
    for (const { scene, stack } of studio(scenes))
      scope(() => {
        const slot = scene % count;
        engine.copy(pool.images.slice(0, { start: slot * planes, end: (slot + 1) * planes }), stack.images);
        engine.copy(pool.depth.slice(0, { start: slot, end: slot + 1 }), stack.depth);
        engine.copy(pool.focusDistances.slice(0, { start: slot, end: slot + 1 }), stack.focusDistances);
      });
  };
  let made = 0; // scenes 0 to made − 1 have been in the pool, the last `count` of them still are
  return {
    ...pool,
    size: count,
    planes,
    side,
    async advance(step) {
      const wanted = count + Math.floor(step / refresh.every) * refresh.count;
      for (let next = Math.max(made, wanted - count); next < wanted; next += CHUNK) {
        const chunk = Array.from({ length: Math.min(CHUNK, wanted - next) }, (_, i) => next + i);
        scope(() => {
          put(chunk);
        });
        if (made < count) onProgress?.(Math.min(next + CHUNK, wanted) - (wanted - count), count);
        await setImmediate();
      }
      made = wanted;
    },
  };
}

interface Stack {
  /** u8 [planes, 3, side, side]. */
  readonly images: Tensor;
  /** [1, side, side]. */
  readonly depth: Tensor;
  /** [planes]. */
  readonly focusDistances: Tensor;
}

type Blur = "lens" | "gaussian" | "powerExponential";

/** Makes the stacks of numbered scenes; a scene's number and the seed decide everything about it. */
function createStudio(engine: TorchEngine, { data, textures, split, seed }: PoolOptions) {
  const root = createRandom(seed).split(split);
  const loaded = keep(lensTextures(engine, textures));
  const chosen = splitTextures(textures.count)[split];
  const { planes, size: side, samples, blur, imperfect, gather } = data;
  const blurOf = (scene: number): Blur => {
    const draw = root.split(scene).split("blur").uniform();
    if (draw < gather.gaussian) return "gaussian";
    return draw < gather.gaussian + gather.powerExponential ? "powerExponential" : "lens";
  };
  const render = (scenes: readonly number[], { planes, samples, theme }: { planes: number; samples: number; theme?: "room" }) => {
    const options = { planes, width: side, height: side, textures: chosen, blur, imperfect, ...(theme && { theme }) };
    const made = scenes.map((scene) => randomScene(root.split(scene).integer(0x80000000), options));
    const focusDistances = made.flatMap((scene) => scene.focusDistances);
    const packed = packScenes(made, { primitivesPerScene: PRIMITIVES_PER_SCENE });
    return { focusDistances, ...renderLens(engine, packed, { textures: loaded, samples, dtype: "u8" }) };
  };
  const make: Record<Blur, (scenes: readonly number[]) => Batch> = {
    lens: (scenes) => {
      const { images, depth, focusDistances } = render(scenes, { planes, samples });
      return { images, depth, focusDistances: engine.constant(focusDistances, { shape: [scenes.length, planes] }) };
    },
    gaussian: (scenes) => {
      const { allInFocus, depth } = render(scenes, { planes: 1, samples: PINHOLE_SAMPLES, theme: "room" }); // what the NYU protocol sees: rooms
      return gathered(engine, { allInFocus, depth, planes, random: scenes.map((scene) => root.split(scene)), kind: "gaussian" });
    },
    powerExponential: (scenes) => {
      const { allInFocus, depth } = render(scenes, { planes: 1, samples: PINHOLE_SAMPLES });
      return gathered(engine, { allInFocus, depth, planes, random: scenes.map((scene) => root.split(scene)), kind: "powerExponential" });
    },
  };
  return (scenes: readonly number[]): { scene: number; stack: Stack }[] =>
    (["lens", "gaussian", "powerExponential"] as const).flatMap((kind) => {
      const these = scenes.filter((scene) => blurOf(scene) === kind);
      if (these.length === 0) return [];
      const batch = make[kind](these);
      return these.map((scene, i) => ({ scene, stack: stackOf(batch, i) }));
    });
}

/** [B, planes, 3, side, side], [B, side, side] and [B, planes]. */
interface Batch {
  readonly images: Tensor;
  readonly depth: Tensor;
  readonly focusDistances: Tensor;
}

function stackOf({ images, depth, focusDistances }: Batch, i: number): Stack {
  const at = (tensor: Tensor): Tensor => tensor.slice(0, { start: i, end: i + 1 }).squeeze(0);
  return { images: at(images), depth: at(depth).unsqueeze(0), focusDistances: at(focusDistances) };
}

interface Gathered {
  readonly allInFocus: Tensor;
  readonly depth: Tensor;
  readonly planes: number;
  readonly random: readonly Random[];
  readonly kind: "gaussian" | "powerExponential";
}

const SHAPES = {
  /** HybridDepth's code: 7×7 Gaussian, planes evenly in metres from the nearest to the farthest depth; f/8, 50 mm, 12 µm give 2–16 px. */
  gaussian: { window: 7, exponent: [2, 2], spread: [1.5, 16], evenMetres: 1 },
  /** FOSSA's: 15×15, exponents 2 to 32, planes evenly in dioptres most of the time. */
  powerExponential: { window: 15, exponent: [2, 32], spread: [2, 20], evenMetres: 0.3 },
} as const;

/**
 * Stacks as RGB-D sets are turned into: one sharp picture blurred by its depth, plane by plane. With s the radius of the blur, in
 * pixels, of the farthest point when the nearest is in focus, c = s |1/S₁ − 1/S₂| / (1/near − 1/far).
 */
function gathered(engine: TorchEngine, { allInFocus, depth, planes, random, kind }: Gathered): Batch {
  const { window, exponent, spread, evenMetres } = SHAPES[kind];
  const B = random.length;
  const perStack = (name: string, [low, high]: readonly [number, number]): Tensor => {
    const values = random.map((each) => low * (high / low) ** each.split(name).uniform()); // evenly in the logarithm
    return engine.constant(values, { shape: [B, 1, 1, 1] });
  };
  const metres = engine.constant(
    random.map((each) => Number(each.split("spacing").uniform() < evenMetres)),
    { shape: [B, 1], dtype: "bool" },
  );
  const known = depth.greater(0);
  const extreme = (name: "amin" | "amax", otherwise: number): Tensor =>
    engine.compute(`aten::${name}`, known.where(depth, otherwise), [1, 2]).reshape([B, 1]);
  const near = extreme("amin", 1e6);
  const far = extreme("amax", 0).maximum(near.mul(1.02)); // a picture of one depth still gets distinct planes
  const share = engine
    .range(planes)
    .mul(1 / (planes - 1))
    .reshape([1, planes]);
  const inMetres = near.add(far.sub(near).mul(share));
  const inDioptres = near
    .pow(-1)
    .add(far.pow(-1).sub(near.pow(-1)).mul(share))
    .pow(-1);
  const focusDistances = metres.where(inMetres, inDioptres); //                                       [B, planes]

  const farthest = far.reshape([B, 1, 1, 1]);
  const inverse = known.unsqueeze(1).where(depth.unsqueeze(1), farthest).pow(-1); //                   1 / S₂, [B, 1, H, W]
  const span = near.pow(-1).sub(far.pow(-1)).reshape([B, 1, 1, 1]);
  const away = focusDistances.pow(-1).reshape([B, planes, 1, 1]).sub(inverse).abs();
  const blurRadius = away.div(span).mul(perStack("spread", spread));
  const picture = allInFocus.cast("f32").mul(1 / 255);
  const blurred = gatherBlurs(engine, { picture, blurRadius, exponent: perStack("exponent", exponent) }, { window });
  return { images: blurred.mul(255).add(0.5).clamp({ min: 0, max: 255 }).cast("u8"), depth, focusDistances };
}
