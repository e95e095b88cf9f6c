import { depthMap } from "../depth.ts";
import type { DepthMap } from "../depth.ts";
import type { Image } from "../image.ts";
import { synthesize } from "../optics/synthesize.ts";
import { presetCamera } from "../optics/synthesizeCameras.ts";
import { protocolDistances } from "../optics/synthesizeFocus.ts";
import { cropDepth, cropImage, cropSample } from "./crop.ts";
import type { Window } from "./crop.ts";
import type { ChooseWindow, DatasetOptions, Sample } from "./dataset.ts";

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

interface Synthesis {
  readonly preset: "nyu" | "arkit";
  readonly planes: number;
  readonly kernel: DatasetOptions["kernel"];
}

/**
 * HybridDepth's protocol: planes evenly in depth from the least to the greatest valid depth of this very image. With `choose`, only
 * that window and the reach of the kernel around it are blurred, which gives the same pixels.
 */
export function synthesizeSample({ name, image, depth }: RgbdPair, { preset, planes, kernel }: Synthesis, choose?: ChooseWindow): Sample {
  const camera = presetCamera(preset, image);
  const distances = protocolDistances(depth, { kind: "linear", planes });
  const window = choose?.(depth);
  const reach = kernelReach(kernel);
  const whole = { left: 0, top: 0, width: image.width, height: image.height };
  const near = window && reach !== undefined ? grow(window, reach, image) : whole;
  const outer = cropDepth(depth, near).valid.includes(1) ? near : whole; // the synthesis needs one known depth
  const part = { image: cropImage(image, outer), depth: cropDepth(depth, outer) };
  const holes = kernel?.kind === "disk" ? "fill" : "blur";
  const options = { camera, focus: { kind: "explicit", distances }, holes, ...(kernel ? { kernel } : {}) } as const;
  const { stack } = synthesize(part, options);
  const sample = { name, stack, trueDepth: part.depth, camera };
  return window ? cropSample(sample, { ...window, left: window.left - outer.left, top: window.top - outer.top }) : sample;
}

/** How far, in pixels, a pixel's light can go; undefined where that depends on the scene. */
function kernelReach(kernel: DatasetOptions["kernel"]): number | undefined {
  if (kernel?.kind === "disk") return undefined;
  return ((kernel?.window ?? (kernel?.kind === "power" ? 15 : 7)) - 1) / 2;
}

function grow({ left, top, width, height }: Window, by: number, frame: { width: number; height: number }): Window {
  const [x, y] = [Math.max(0, left - by), Math.max(0, top - by)];
  return { left: x, top: y, width: Math.min(frame.width, left + width + by) - x, height: Math.min(frame.height, top + height + by) - y };
}
