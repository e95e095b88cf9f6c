import type { DepthMap } from "../../image/depthMap.ts";
import { depthMap } from "../../image/depthMap.ts";
import type { Image } from "../../image/image.ts";
import { image } from "../../image/image.ts";
import type { FocalStack } from "../../stack/focalStack.ts";
import { focalStack } from "../../stack/focalStack.ts";
import { compressLikeJpeg } from "./jpeg.ts";
import { phoneImage } from "./phone.ts";
import { renderDepth, renderJob, renderPlane } from "./kernel.ts";
import type { Scene } from "../scene/scene.ts";
import { SceneError } from "../scene/scene.ts";
import { packScenes } from "../scene/pack.ts";
import type { TextureSet } from "../texture/texture.ts";

export interface RenderOptions {
  readonly textures: TextureSet;
  /** Rays per pixel and plane. */
  readonly samples?: number;
  /** Called with the share done, in (0, 1]. */
  readonly onProgress?: (share: number) => void;
}

/** A stack with its exact depth and the pinhole image. With focus breathing, depth belongs to the middle plane. */
export interface Rendering {
  readonly stack: FocalStack;
  readonly depth: DepthMap;
  readonly allInFocus: Image;
}

export const DEFAULT_SAMPLES = 96;

/** Renders a scene in TypeScript, without the addon. */
export function renderScene(scene: Scene, { textures, samples = DEFAULT_SAMPLES, onProgress }: RenderOptions): Rendering {
  checkTextures(scene, textures);
  const { width, height } = scene.camera;
  const planes = scene.focusDistances.length;
  const job = renderJob(packScenes([scene]), 0, { textures, samples });
  const pictures = Array.from({ length: planes + 1 }, (_, n) => {
    const values = new Float32Array(3 * width * height);
    renderPlane(job, n, values);
    onProgress?.((n + 1) / (planes + 1));
    return interleave(values, width, height);
  });
  const values = new Float32Array(width * height);
  renderDepth(job, values);
  return assembleRendering(scene, { pictures, depth: values });
}

/** Builds a rendering from raw images (one per plane, then the pinhole's) and depths (0: nothing hit). */
export function assembleRendering(scene: Scene, raw: { pictures: readonly Image[]; depth: Float32Array }): Rendering {
  const { width, height } = scene.camera;
  const { jpegQuality, phone } = scene.imperfections ?? {};
  const images = raw.pictures.slice(0, -1).map((picture, plane) => {
    if (phone) return phoneImage(picture, phone, plane);
    return jpegQuality ? compressLikeJpeg(picture, jpegQuality) : picture;
  });
  const valid = Uint8Array.from(raw.depth, (depth) => (depth > 0 ? 1 : 0));
  return {
    stack: focalStack({ images, focusDistances: scene.focusDistances, space: "depth" }, { minPlanes: 1 }),
    depth: depthMap({ width, height, values: raw.depth, valid, space: "depth" }),
    allInFocus: raw.pictures.at(-1) as Image,
  };
}

/** [3, H, W] to interleaved pixels. */
export function interleave(planar: Float32Array, width: number, height: number): Image {
  const pixels = width * height;
  const data = new Float32Array(3 * pixels);
  for (let i = 0; i < pixels; i++) for (let c = 0; c < 3; c++) data[3 * i + c] = planar[c * pixels + i] as number;
  return image({ width, height, channels: 3, data });
}

/** Throws if the scene uses textures that are not loaded. */
export function checkTextures(scene: Scene, textures: TextureSet): void {
  scene.primitives.forEach((primitive, k) => {
    const cut = primitive.kind === "quad" && primitive.cutout?.kind === "texture" ? primitive.cutout.texture : 0;
    const wanted = Math.max(primitive.material.texture, cut);
    if (wanted >= textures.count)
      throw new SceneError(
        `primitives[${k}] needs texture ${wanted}, but only ${textures.count} are loaded; give the image folder the scene was made with`,
      );
  });
}
