import { setImmediate } from "node:timers/promises";
import type { Tensor } from "../engine/engine.ts";
import { lensTextures, renderLens } from "../optics/render/node/lens.ts";
import { keep, scope } from "../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch/torchEngine.ts";
import { PRIMITIVES_PER_SCENE, randomScene } from "../optics/scene/random.ts";
import { withPlanes, type Scene } from "../optics/scene/scene.ts";
import { packScenes } from "../optics/scene/pack.ts";
import { splitTextures, type TextureSet } from "../optics/texture/texture.ts";
import { planeWindows, type PlaneWindow } from "../network/planeWindows.ts";
import { createRandom, type Random } from "../random.ts";
import type { RenderData } from "./config.ts";
import { createPhoneImages } from "./devicePhone.ts";
import { gathered, sensorPictures, type Batch, type Gathered } from "./gatheredStacks.ts";

/** Rendered stacks on the device, from which batches are drawn. */
export interface StackPool {
  readonly size: number;
  readonly planes: number;
  /** Of the square images, in pixels. */
  readonly side: number;
  /** u8 [size · planes, 3, side, side]: the planes of stack i are rows i · planes to (i + 1) · planes. */
  readonly images: TorchTensor;
  /** Metres, 0 where there is nothing; f32 [size, 1, side, side]. */
  readonly depth: TorchTensor;
  /** Metres, increasing; f32 [size, planes]. */
  readonly focusDistances: TorchTensor;
  /** 1 for stacks blurred from one image, and light fields: between their planes there is no camera motion and no new sensor noise. f32 [size, 1]. */
  readonly onePicture: TorchTensor;
  /**
   * Brings the pool to its state before `step`: all stacks are rendered the first time, then the oldest are replaced. Rejects with the
   * reason of `stop` if that fires first; the pool is then incomplete until it is advanced again.
   */
  advance(step: number, options?: { readonly stop?: AbortSignal | undefined }): Promise<void>;
}

export interface PoolOptions {
  readonly data: Pick<
    RenderData,
    "refresh" | "planes" | "size" | "samples" | "blur" | "imperfect" | "themes" | "phone" | "lightField" | "sweep" | "gather"
  >;
  readonly count: number;
  readonly textures: TextureSet;
  /** Which textures: those of training, or those held out. */
  readonly split: "train" | "test";
  readonly seed: number;
  readonly onProgress?: (done: number, count: number) => void;
}

const CHUNK = { cpu: 2, cuda: 48 } as const; // scenes rendered at a time: enough to fill a GPU; on a CPU a few seconds, so that a stop takes effect
const PINHOLE_SAMPLES = 16; // rays per pixel of the sharp image that a gather blurs

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
    onePicture: empty([count, 1], "f32"),
  };
  const renderScenes = createSceneRenderer(engine, options);
  const put = (scenes: readonly number[]): void => {
    for (const { scene, stack, onePicture } of renderScenes(scenes))
      scope(() => {
        const slot = scene % count;
        engine.copy(pool.images.slice(0, { start: slot * planes, end: (slot + 1) * planes }), stack.images);
        engine.copy(pool.depth.slice(0, { start: slot, end: slot + 1 }), stack.depth);
        engine.copy(pool.focusDistances.slice(0, { start: slot, end: slot + 1 }), stack.focusDistances);
        engine.compute("aten::fill_.Scalar", pool.onePicture.slice(0, { start: slot, end: slot + 1 }), Number(onePicture));
      });
  };
  const most = CHUNK[engine.device === "cpu" ? "cpu" : "cuda"];
  let made = 0; // scenes 0 to made − 1 have been in the pool, the last `count` of them still are
  return {
    ...pool,
    size: count,
    planes,
    side,
    async advance(step, { stop } = {}) {
      const wanted = count + Math.floor(step / refresh.every) * refresh.count;
      for (let next = Math.max(made, wanted - count); next < wanted; next += most) {
        stop?.throwIfAborted();
        const chunk = Array.from({ length: Math.min(most, wanted - next) }, (_, i) => next + i);
        scope(() => {
          put(chunk);
        });
        if (made < count) onProgress?.(Math.min(next + most, wanted) - (wanted - count), count);
        await setImmediate(); // signals arrive only when the event loop turns
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

/** Renders the stacks of scenes; everything about a scene follows from its index and the seed. */
function createSceneRenderer(engine: TorchEngine, { data, textures, split, seed }: PoolOptions) {
  const root = createRandom(seed).split(split);
  const loaded = keep(lensTextures(engine, textures));
  const phoneImages = createPhoneImages(engine);
  const chosen = splitTextures(textures.count)[split];
  const { planes, size: side, samples, gather } = data;
  const blurOf = (scene: number): Blur => {
    const draw = root.split(scene).split("blur").uniform();
    if (draw < gather.gaussian) return "gaussian";
    return draw < gather.gaussian + gather.powerExponential ? "powerExponential" : "lens";
  };
  const render = (scenes: readonly Scene[], { samples }: { samples: number }) => {
    const packed = packScenes(scenes, { primitivesPerScene: PRIMITIVES_PER_SCENE });
    return renderLens(engine, packed, { textures: loaded, samples, dtype: "u8" });
  };
  const sharpScene = (scene: number, theme?: "room"): Scene => {
    const { blur, imperfect } = data;
    const options = { planes: 1, width: side, height: side, textures: chosen, blur, imperfect, ...(theme && { theme }) };
    return randomScene(root.split(scene).integer(0x80000000), options);
  };
  const make: Record<Blur, (scenes: readonly number[]) => Batch> = {
    lens: (scenes) => {
      const made = scenes.map((scene) => lensScene(root.split(scene), data, chosen));
      const { images, depth } = render(made, { samples });
      made.forEach(({ imperfections }, i) => {
        if (!imperfections?.phone) return;
        const stack = images.slice(0, { start: i, end: i + 1 });
        engine.copy(stack, phoneImages(stack, [imperfections.phone]));
      });
      const focusDistances = made.flatMap((scene) => scene.focusDistances);
      return { images, depth, focusDistances: engine.constant(focusDistances, { shape: [scenes.length, planes] }) };
    },
    gaussian: (scenes) => fromPictures(scenes, { kind: "gaussian", theme: "room" }), // what the NYU protocol sees: rooms
    powerExponential: (scenes) => fromPictures(scenes, { kind: "powerExponential" }),
  };
  const fromPictures = (scenes: readonly number[], { kind, theme }: { kind: Gathered["kind"]; theme?: "room" }): Batch => {
    const made = scenes.map((scene) => sharpScene(scene, theme));
    const { allInFocus, depth } = render(made, { samples: PINHOLE_SAMPLES });
    const random = scenes.map((scene) => root.split(scene));
    const pictures = sensorPictures(engine, { rendered: allInFocus, textures: loaded, chosen, random, gather });
    return gathered(engine, { pictures, depth, planes, random, kind });
  };
  return (scenes: readonly number[]): { scene: number; stack: Stack; onePicture: boolean }[] =>
    (["lens", "gaussian", "powerExponential"] as const).flatMap((kind) => {
      const these = scenes.filter((scene) => blurOf(scene) === kind);
      if (these.length === 0) return [];
      const batch = make[kind](these);
      const onePicture = (scene: number): boolean => kind !== "lens" || takenAs(root.split(scene), data) === "lightField";
      return these.map((scene, i) => ({ scene, stack: stackOf(batch, i), onePicture: onePicture(scene) }));
    });
}

/** How a scene through the lens is taken. */
function takenAs(random: Random, { phone, lightField }: PoolOptions["data"]): "phone" | "lightField" | "camera" {
  if (random.split("isPhone").uniform() < (phone?.share ?? 0)) return "phone";
  return random.split("isLightField").uniform() < (lightField?.share ?? 0) ? "lightField" : "camera";
}

/** A scene through the lens, its planes as many as are rendered: of its own, or those that a network is shown of a long sweep. */
function lensScene(random: Random, data: PoolOptions["data"], textures: readonly number[]): Scene {
  const { planes, size: side, blur, imperfect, themes, phone, sweep } = data;
  const taken = takenAs(random, data);
  const draw = random.split("sweep");
  const count = sweep && draw.uniform() < sweep.share ? sweep.planes[0] + draw.integer(sweep.planes[1] - sweep.planes[0] + 1) : undefined;
  const scene = randomScene(random.integer(0x80000000), {
    ...{ planes, width: side, height: side, textures, imperfect, ...(themes && { themes }) },
    blur: taken === "camera" ? blur : (data[taken]?.blur ?? blur),
    phone: Number(taken === "phone"),
    shadows: phone?.shadows ?? 0,
    lightField: Number(taken === "lightField"),
    ...(sweep && count !== undefined && { sweep: { planes: count, blur: sweep.blur } }),
  });
  return count === undefined ? scene : withPlanes(scene, shownPlanes(draw, { of: count, planes }));
}

/** Of a sweep: as often planes spread over all of it, as in the coarse pass, which decides where the others look, as neighbouring ones. */
function shownPlanes(random: Random, { of, planes }: { readonly of: number; readonly planes: number }): PlaneWindow {
  const { sparse, dense } = planeWindows(of, planes);
  if (sparse && random.uniform() < 0.5) return sparse;
  return dense[random.integer(dense.length)] as PlaneWindow;
}

function stackOf({ images, depth, focusDistances }: Batch, i: number): Stack {
  const at = (tensor: Tensor): Tensor => tensor.slice(0, { start: i, end: i + 1 }).squeeze(0);
  return { images: at(images), depth: at(depth).unsqueeze(0), focusDistances: at(focusDistances) };
}
