import type { Tensor } from "../../../engine/engine.ts";
import { EngineError, ShapeError } from "../../../engine/errors.ts";
import { scope } from "../../../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../../../engine/torch/torchEngine.ts";
import { CAMERA_STRIDE, PLANE_STRIDE, PRIMITIVE_STRIDE, TYPE, type PackedScenes } from "../../scene/pack.ts";
import type { TextureSet } from "../../texture/texture.ts";

/** The tensors that B scenes are rendered into: contiguous, on the engine's device. Slices along the first axis of a larger tensor work too. */
export interface LensImages {
  /** u8 or f32 [B, N, 3, H, W], gamma-encoded; f32 in [0, 1]. */
  readonly images: Tensor;
  /** The pinhole image, [B, 3, H, W], same dtype. */
  readonly allInFocus?: Tensor | undefined;
  /** f32 [B, H, W], metres along the optical axis; 0 where no surface is hit. */
  readonly depth: Tensor;
}

/** Textures as the kernel reads them: u8 [count, size, size, 4] on the engine's device. */
export function lensTextures(engine: TorchEngine, { count, size, data }: TextureSet): TorchTensor {
  return engine.constant(data, { shape: [count, size, size, 4], dtype: "u8" });
}

/** Renders the scenes into `targets`. On CUDA it returns as soon as the work is queued. */
export function renderLensInto(
  engine: TorchEngine,
  scenes: PackedScenes,
  { textures, samples, targets }: { textures: Tensor; samples: number; targets: LensImages },
): void {
  const { count, planes, width, height, primitivesPerScene } = scenes;
  checkTextureIndices(scenes, Number(textures.shape[0]));
  const expected = [count, planes, 3, height, width];
  if (expected.some((size, axis) => targets.images.shape[axis] !== size))
    throw new ShapeError(`renderLens: expected images [${expected.join(", ")}], got [${targets.images.shape.map(String).join(", ")}]`);
  scope(() => {
    const primitives = engine.constant(scenes.primitives, { shape: [count, primitivesPerScene, PRIMITIVE_STRIDE] });
    const cameras = engine.constant(scenes.cameras, { shape: [count, CAMERA_STRIDE] });
    const focus = engine.constant(scenes.focus, { shape: [count, planes, PLANE_STRIDE] });
    const { images, allInFocus = null, depth } = targets;
    engine.native("renderLens", primitives, cameras, focus, textures, images, allInFocus, depth, samples);
  });
}

/** As `renderLensInto`, into new tensors. */
export function renderLens(
  engine: TorchEngine,
  scenes: PackedScenes,
  { textures, samples, dtype = "f32" }: { textures: Tensor; samples: number; dtype?: "f32" | "u8" },
): Required<LensImages> & { readonly allInFocus: Tensor } {
  const { count, planes, width, height } = scenes;
  const make = (shape: readonly number[], kind: "f32" | "u8"): Tensor =>
    engine.compute("aten::empty.memory_format", shape, kind, null, engine.device);
  const targets = {
    images: make([count, planes, 3, height, width], dtype),
    allInFocus: make([count, 3, height, width], dtype),
    depth: make([count, height, width], "f32"),
  };
  renderLensInto(engine, scenes, { textures, samples, targets });
  return targets;
}

/** The kernel does not check indices; a wrong one would read outside the textures. */
function checkTextureIndices({ primitives, cameras, count, primitivesPerScene }: PackedScenes, available: number): void {
  for (let scene = 0; scene < count; scene++) {
    const used = cameras[scene * CAMERA_STRIDE + 1] as number;
    if (!(used >= 0 && used <= primitivesPerScene))
      throw new EngineError(`renderLens: scene ${scene} claims ${used} primitives of ${primitivesPerScene}`);
    for (let k = 0; k < used; k++) {
      const at = (scene * primitivesPerScene + k) * PRIMITIVE_STRIDE;
      const texture = primitives[at + 13] as number;
      const cut = primitives[at + 12] === TYPE.textureQuad ? (primitives[at + 25] as number) : 0;
      const wrong = [texture, cut].find((index) => !(index >= 0 && index < available));
      if (wrong !== undefined)
        throw new EngineError(`renderLens: primitive ${k} of scene ${scene} uses texture ${wrong}, but there are ${available}`);
    }
  }
}
