import { depthMap } from "../depth.ts";
import type { DepthMap } from "../depth.ts";
import type { Image } from "../image.ts";
import { synthesize } from "../optics/synthesize.ts";
import { presetCamera } from "../optics/synthesizeCameras.ts";
import type { DatasetOptions, Sample } from "./dataset.ts";

/** A sharp picture and its depth in metres, the raw material of the synthetic sets. */
export interface RgbdPair {
  readonly name: string;
  readonly image: Image;
  readonly depth: DepthMap;
}

/** Depth in metres, valid strictly between `above` and `below`. */
export function metricDepth(
  { width, height, values }: { width: number; height: number; values: Float32Array },
  { above, below }: { above: number; below: number },
): DepthMap {
  const valid = Uint8Array.from(values, (value) => (value > above && value < below ? 1 : 0));
  return depthMap({ width, height, values, valid, space: "depth" });
}

/** HybridDepth's protocol: planes evenly in depth from the least to the greatest valid depth of this very image. */
export function synthesizeSample(
  { name, image, depth }: RgbdPair,
  { preset, planes, kernel }: { preset: "nyu" | "arkit"; planes: number; kernel: DatasetOptions["kernel"] },
): Sample {
  const camera = presetCamera(preset, image);
  const holes = kernel?.kind === "disk" ? "fill" : "blur";
  const options = { camera, focus: { kind: "linear", planes }, holes, ...(kernel ? { kernel } : {}) } as const;
  const { stack } = synthesize({ image, depth }, options);
  return { name, stack, trueDepth: depth, camera };
}
