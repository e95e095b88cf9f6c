import { lensTextures, renderLens } from "../optics/render/node/lens.ts";
import { scope } from "../engine/scope.ts";
import type { TorchEngine } from "../engine/torch/torchEngine.ts";
import { createTorchEngine } from "../engine/torch/torchEngine.ts";
import type { Rendering } from "../optics/render/render.ts";
import { assembleRendering, checkTextures, interleave, renderScene } from "../optics/render/render.ts";
import type { Scene } from "../optics/scene/scene.ts";
import { packScenes } from "../optics/scene/pack.ts";
import type { CreateRenderer } from "../evaluate/renderedSet.ts";
import type { TextureSet } from "../optics/texture/texture.ts";

export const RENDER_DEVICES = ["auto", "cpu", "cuda", "js"] as const;
export type RenderDevice = (typeof RENDER_DEVICES)[number];

/** Renders scenes with one set of textures. */
export interface RenderHost {
  readonly device: Exclude<RenderDevice, "auto">;
  render(scene: Scene, samples: number): Rendering;
}

/** `auto` takes the native kernel on the CPU where it is built, else plain TypeScript. */
export function renderHost(device: RenderDevice, textures: TextureSet): RenderHost {
  if (device === "js") return { device, render: (scene, samples) => renderScene(scene, { textures, samples }) };
  if (device !== "auto") return nativeHost(createTorchEngine({ device }), device, textures);
  let engine: TorchEngine;
  try {
    engine = createTorchEngine();
  } catch {
    return renderHost("js", textures);
  }
  return nativeHost(engine, "cpu", textures);
}

/** For rendered benchmarks. */
export const createRenderer: CreateRenderer = (textures) => {
  const host = renderHost("auto", textures);
  return (scene, samples) => host.render(scene, samples);
};

function nativeHost(engine: TorchEngine, device: "cpu" | "cuda", textures: TextureSet): RenderHost {
  const uploaded = lensTextures(engine, textures);
  const render = (scene: Scene, samples: number): Rendering => {
    checkTextures(scene, textures);
    const { width, height } = scene.camera;
    const size = 3 * width * height;
    return scope(() => {
      const { images, allInFocus, depth } = renderLens(engine, packScenes([scene]), { textures: uploaded, samples });
      const [planes, sharp, depths] = [images, allInFocus, depth].map((tensor) => engine.read(tensor) as Float32Array) as [
        Float32Array,
        Float32Array,
        Float32Array,
      ];
      const pictures = scene.focusDistances.map((_, n) => interleave(planes.subarray(n * size, (n + 1) * size), width, height));
      return assembleRendering(scene, { pictures: [...pictures, interleave(sharp, width, height)], depth: depths });
    });
  };
  return { device, render };
}
