import type { Size } from "../image/image.ts";
import { depthMap, type DepthMap } from "../image/depthMap.ts";
import { synthesize, type SynthesisKernel } from "../optics/synthesize/synthesize.ts";
import { presetCamera } from "../optics/synthesize/cameras.ts";
import { depthRange, protocolDistances } from "../optics/synthesize/focus.ts";
import { cropDepth, cropImage, type Window } from "../image/crop.ts";
import { cropSample, DatasetError, type ChooseWindow, type DatasetOptions, type Sample } from "./dataset.ts";
import type { RgbdPair } from "./pairSet.ts";

/** Refuses a picture and a depth of different sizes, before either is cropped. */
export function rgbdPair(pair: RgbdPair): RgbdPair {
  const { where, image, depth } = pair;
  if (image.width !== depth.width || image.height !== depth.height)
    throw new DatasetError(
      `${where}: the picture is ${image.width}×${image.height} but its depth ${depth.width}×${depth.height}; they must match pixel by pixel`,
    );
  return pair;
}

/** Depth in metres, valid strictly between `above` and `below`. */
export function metricDepth(
  { width, height, values }: Size & { values: Float32Array },
  { above, below }: { above: number; below: number },
): DepthMap {
  const valid = Uint8Array.from(values, (value) => (value > above && value < below ? 1 : 0));
  return depthMap({ width, height, values, valid, space: "depth" });
}

interface Synthesis {
  readonly preset: "nyu" | "arkit";
  readonly planes: number;
  readonly kernel: DatasetOptions["kernel"];
  readonly focus: DatasetOptions["focus"];
}

/** FOSSA's evaluation stacks are Gaussian, over its 15×15 window. */
const ADAPTIVE_KERNEL: SynthesisKernel = { kind: "power", exponent: 2 };

/**
 * `linear` is HybridDepth's protocol: planes evenly in depth from the least to the greatest valid depth of this very image. `adaptive`
 * is FOSSA's: planes evenly in 1/depth between the 5 % and 95 % quantiles of the image's own, its camera and its blur. With `choose`,
 * only that window and the reach of the kernel around it are blurred, which gives the same pixels.
 */
export function synthesizeSample(pair: RgbdPair, synthesis: Synthesis, choose?: ChooseWindow): Sample {
  const distances = pairDistances(pair, synthesis);
  try {
    return blurPair(pair, { synthesis, distances, choose });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new DatasetError(`${pair.where}: ${cause.message}`, { cause });
  }
}

/** In metres, near to far. */
function pairDistances({ where, depth }: RgbdPair, { planes, focus: kind = "linear" }: Synthesis): number[] {
  const metres = (value: number): string => `${Number(value.toPrecision(4))} m`;
  if (!depth.valid.includes(1)) {
    const { min, max } = depthRange({ ...depth, valid: new Uint8Array(depth.valid.length).fill(1) });
    throw new DatasetError(`${where}: no pixel of the depth is valid; it runs from ${metres(min)} to ${metres(max)}`);
  }
  try {
    return protocolDistances(depth, { kind, planes });
  } catch (cause) {
    const { min, max } = depthRange(depth);
    const span = max > min ? `nearly the same everywhere, between ${metres(min)} and ${metres(max)}` : `${metres(min)} everywhere`;
    throw new DatasetError(`${where}: the depth is ${span}, so no ${planes} focus distances follow from it`, { cause });
  }
}

interface Blurring {
  readonly synthesis: Synthesis;
  readonly distances: readonly number[];
  readonly choose: ChooseWindow | undefined;
}

function blurPair({ name, image, depth }: RgbdPair, { synthesis, distances, choose }: Blurring): Sample {
  const { preset, focus = "linear" } = synthesis;
  const kernel = synthesis.kernel ?? (focus === "adaptive" ? ADAPTIVE_KERNEL : undefined);
  const camera = presetCamera(focus === "adaptive" ? "fossa" : preset, image);
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

/** Planes, blur and camera in words. */
export function describeSynthesis({ preset, planes, kernel, focus }: Synthesis): string {
  if (focus === "adaptive")
    return (
      `${planes} planes evenly in 1/depth between the 5 % and 95 % quantiles of the image's own, ${kernel?.kind ?? "gaussian"} blur, ` +
      "f/1.4, 36 mm sensor, 31 mm lens (60° of view, not each image's camera matrix as in FOSSA)"
    );
  const camera = { nyu: "f/8 50 mm 12 µm", arkit: "f/0.5 2.9 mm 5.54 µm" }[preset];
  return `${planes} planes linspace(min, max of the image's valid depth), ${kernel?.kind ?? "gaussian"} blur, ${camera}`;
}

/** How far, in pixels, a pixel's light can go; undefined where that depends on the scene. */
function kernelReach(kernel: DatasetOptions["kernel"]): number | undefined {
  if (kernel?.kind === "disk") return undefined;
  return ((kernel?.window ?? (kernel?.kind === "power" ? 15 : 7)) - 1) / 2;
}

function grow({ left, top, width, height }: Window, by: number, frame: Size): Window {
  const [x, y] = [Math.max(0, left - by), Math.max(0, top - by)];
  return { left: x, top: y, width: Math.min(frame.width, left + width + by) - x, height: Math.min(frame.height, top + height + by) - y };
}
