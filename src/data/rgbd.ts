import type { Size } from "../image/image.ts";
import { depthMap, type DepthMap } from "../image/depthMap.ts";
import { synthesize, type SynthesisKernel } from "../optics/synthesize/synthesize.ts";
import { presetCamera } from "../optics/synthesize/cameras.ts";
import { depthRange, protocolDistances } from "../optics/synthesize/focus.ts";
import { DatasetError, type DatasetOptions, type Sample } from "./dataset.ts";
import type { RgbdPair } from "./pairSet.ts";

/** Refuses a image and a depth of different sizes, before either is cropped. */
export function rgbdPair(pair: RgbdPair): RgbdPair {
  const { where, image, depth } = pair;
  if (image.width !== depth.width || image.height !== depth.height)
    throw new DatasetError(
      `${where}: the image is ${image.width}×${image.height} but its depth ${depth.width}×${depth.height}; they must match pixel by pixel`,
    );
  return pair;
}

/** Depth in metres, valid strictly between `above` and `below`. */
export function metricDepth(
  { width, height, values }: Size & { values: Float32Array },
  { above, below }: { above: number; below: number },
): DepthMap {
  const valid = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) valid[i] = Number((values[i] as number) > above && (values[i] as number) < below);
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
 * is FOSSA's: planes evenly in 1/depth between the 5 % and 95 % quantiles of the image's own, its camera and its blur.
 */
export function synthesizeSample(pair: RgbdPair, synthesis: Synthesis): Sample {
  const distances = pairDistances(pair, synthesis);
  try {
    return blurPair(pair, synthesis, distances);
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

function blurPair({ name, image, depth }: RgbdPair, synthesis: Synthesis, distances: readonly number[]): Sample {
  const { preset, focus = "linear" } = synthesis;
  const kernel = synthesis.kernel ?? (focus === "adaptive" ? ADAPTIVE_KERNEL : undefined);
  const camera = presetCamera(focus === "adaptive" ? "fossa" : preset, image);
  const holes = kernel?.kind === "disk" ? "fill" : "blur";
  const options = { camera, focus: { kind: "explicit", distances }, holes, ...(kernel ? { kernel } : {}) } as const;
  return { name, stack: synthesize({ image, depth }, options).stack, trueDepth: depth, camera };
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
