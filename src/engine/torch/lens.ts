import type { Tensor } from "../engine.ts";
import { EngineError, ShapeError } from "../errors.ts";
import { scope } from "../scope.ts";
import type { TorchEngine, TorchTensor } from "./torchEngine.ts";

/** Packed scenes, as src/optics/scene/pack.ts makes them: [count, primitivesPerScene, 32], [count, 16] and [count, planes, 8]. */
export interface LensScenes {
  readonly count: number;
  readonly planes: number;
  readonly width: number;
  readonly height: number;
  readonly primitivesPerScene: number;
  readonly primitives: Float32Array;
  readonly cameras: Float32Array;
  readonly focus: Float32Array;
}

/** Where a batch of B scenes goes, contiguous and on the engine's device; slices along the first axis of a larger pool will do. */
export interface LensPictures {
  /** u8 or f32 [B, N, 3, H, W], gamma-encoded; f32 in [0, 1]. */
  readonly images: Tensor;
  /** What a pinhole would see, [B, 3, H, W], same dtype. */
  readonly allInFocus?: Tensor | undefined;
  /** f32 [B, H, W], metres along the optical axis; 0 where there is nothing. */
  readonly depth: Tensor;
}

const PRIMITIVE_STRIDE = 32;
const TEXTURE_QUAD = 7;

/** Textures as the kernel reads them: u8 [count, size, size, 4] on the engine's device. */
export function lensTextures(engine: TorchEngine, { count, size, data }: { count: number; size: number; data: Uint8Array }): TorchTensor {
  return engine.constant(data, { shape: [count, size, size, 4], dtype: "u8" });
}

/** Renders into `pictures`. On CUDA it returns as soon as the work is queued. */
export function renderLensInto(
  engine: TorchEngine,
  scenes: LensScenes,
  { textures, samples, pictures }: { textures: Tensor; samples: number; pictures: LensPictures },
): void {
  const { count, planes, width, height, primitivesPerScene } = scenes;
  checkTextureIndices(scenes, Number(textures.shape[0]));
  const expected = [count, planes, 3, height, width];
  if (expected.some((size, axis) => pictures.images.shape[axis] !== size))
    throw new ShapeError(`renderLens: expected images [${expected.join(", ")}], got [${pictures.images.shape.map(String).join(", ")}]`);
  scope(() => {
    const primitives = engine.constant(scenes.primitives, { shape: [count, primitivesPerScene, PRIMITIVE_STRIDE] });
    const cameras = engine.constant(scenes.cameras, { shape: [count, 16] });
    const focus = engine.constant(scenes.focus, { shape: [count, planes, 8] });
    const { images, allInFocus = null, depth } = pictures;
    engine.native("renderLens", primitives, cameras, focus, textures, images, allInFocus, depth, samples);
  });
}

/** As `renderLensInto`, into new tensors. */
export function renderLens(
  engine: TorchEngine,
  scenes: LensScenes,
  { textures, samples, dtype = "f32" }: { textures: Tensor; samples: number; dtype?: "f32" | "u8" },
): Required<LensPictures> & { readonly allInFocus: Tensor } {
  const { count, planes, width, height } = scenes;
  const make = (shape: readonly number[], kind: "f32" | "u8"): Tensor =>
    engine.compute("aten::empty.memory_format", shape, kind, null, engine.device);
  const pictures = {
    images: make([count, planes, 3, height, width], dtype),
    allInFocus: make([count, 3, height, width], dtype),
    depth: make([count, height, width], "f32"),
  };
  renderLensInto(engine, scenes, { textures, samples, pictures });
  return pictures;
}

/** The kernel trusts its indices; a wrong one would read foreign memory. */
function checkTextureIndices({ primitives, cameras, count, primitivesPerScene }: LensScenes, available: number): void {
  for (let scene = 0; scene < count; scene++) {
    const used = cameras[scene * 16 + 1] as number;
    if (!(used >= 0 && used <= primitivesPerScene))
      throw new EngineError(`renderLens: scene ${scene} claims ${used} primitives of ${primitivesPerScene}`);
    for (let k = 0; k < used; k++) {
      const at = (scene * primitivesPerScene + k) * PRIMITIVE_STRIDE;
      const texture = primitives[at + 13] as number;
      const cut = primitives[at + 12] === TEXTURE_QUAD ? (primitives[at + 25] as number) : 0;
      const wrong = [texture, cut].find((index) => !(index >= 0 && index < available));
      if (wrong !== undefined)
        throw new EngineError(`renderLens: primitive ${k} of scene ${scene} uses texture ${wrong}, but there are ${available}`);
    }
  }
}
