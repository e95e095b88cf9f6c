import type { DepthMap } from "../../image/depthMap.ts";
import type { Image } from "../../image/image.ts";
import { decodeSrgb, encodeSrgb } from "../../image/srgb.ts";
import { type FocalStack, focalStack } from "../../stack/focalStack.ts";
import { depthRange, type FocusProtocol, protocolDistances } from "./focus.ts";
import { gatherBlur } from "./gather.ts";
import { type HoleRule, inverseDepth } from "./holes.ts";
import { LAYERING, layeredBlur } from "./layers.ts";
import type { Camera } from "../../stack/stackFormat.ts";
import { blurPerDioptre, checkFocus } from "../lens/thinLens.ts";

/**
 * How defocus is rendered.
 * `gaussian`: HybridDepth's 7×7 gather, the one behind the published NYU numbers.
 * `power`: FOSSA's 15×15 gather; exponent 2 is Gaussian, 32 nearly a disk.
 * `disk`: a true disk with occlusion (`layeredBlur`).
 */
export type SynthesisKernel =
  | { readonly kind: "gaussian"; readonly window?: number }
  | { readonly kind: "power"; readonly exponent: number; readonly window?: number }
  | { readonly kind: "disk" };

/** Light is summed as stored in the file (as in the published code) or, as in a real lens, in linear sRGB. */
export type Light = "encoded" | "linear";

export interface SynthesisOptions {
  readonly camera: Camera;
  readonly focus: FocusProtocol;
  readonly kernel?: SynthesisKernel;
  /** Default: `linear` for the disk, `encoded` for the two gathers. */
  readonly light?: Light;
  readonly holes?: HoleRule;
  /** Called after each plane. */
  readonly onPlane?: (done: number, planes: number) => void;
}

/** All parameters of the synthesis, with defaults filled in, and properties of the result. Lengths in metres, blur in pixels. */
export interface SynthesisRecord {
  readonly width: number;
  readonly height: number;
  readonly camera: Camera;
  readonly focus: FocusProtocol;
  readonly focusDistances: readonly number[];
  readonly kernel: SynthesisKernel;
  /** How the disk kernel sliced the image, in pixels of blur radius. */
  readonly layering?: typeof LAYERING;
  readonly light: Light;
  readonly holes: HoleRule;
  readonly depthRange: { readonly min: number; readonly max: number };
  readonly validFraction: number;
  /** Largest blur radius on each plane, over valid pixels. */
  readonly maxBlurRadius: readonly number[];
}

/** A focal stack from one sharp image and its depth (A.2): each plane blurs every pixel by its circle of confusion (eq. 9). */
export function synthesize(
  { image, depth }: { image: Image; depth: DepthMap },
  { camera, focus, kernel: requested = { kind: "gaussian" }, light, holes = "fill", onPlane }: SynthesisOptions,
): { stack: FocalStack; record: SynthesisRecord } {
  checkPair(image, depth);
  const kernel = withWindow(requested);
  if (kernel.kind === "disk" && holes === "blur")
    throw new RangeError('synthesize: holes "blur" needs a gather kernel; use "fill" with the disk');
  const resolvedLight = light ?? (kernel.kind === "disk" ? "linear" : "encoded");
  const focusDistances = protocolDistances(depth, focus);
  for (const distance of focusDistances) checkFocus(camera, distance);

  const dioptres = inverseDepth(depth, holes);
  const source = resolvedLight === "linear" ? mapValues(image, decodeSrgb) : image;
  const planes = focusDistances.map((focusDistance, n) => {
    const signedRadius = signedBlurRadius(dioptres, { camera, focusDistance });
    const blurred = drawPlane(source, signedRadius, kernel);
    onPlane?.(n + 1, focusDistances.length);
    return {
      image: resolvedLight === "linear" ? mapValues(blurred, encodeSrgb) : blurred,
      maxBlurRadius: greatest(signedRadius, depth.valid),
    };
  });

  const { width, height } = image;
  const validFraction = depth.valid.reduce((sum, valid) => sum + valid, 0) / depth.valid.length;
  return {
    stack: focalStack({ images: planes.map((plane) => plane.image), focusDistances, space: "depth" }, { minPlanes: 1 }),
    record: {
      width,
      height,
      camera,
      focus,
      focusDistances,
      kernel,
      ...(kernel.kind === "disk" ? { layering: LAYERING } : {}),
      light: resolvedLight,
      holes,
      depthRange: depthRange(depth),
      validFraction,
      maxBlurRadius: planes.map((plane) => plane.maxBlurRadius),
    },
  };
}

function checkPair(image: Image, depth: DepthMap): void {
  if (image.width !== depth.width || image.height !== depth.height)
    throw new RangeError(
      `synthesize: the image is ${image.width}×${image.height} but its depth is ${depth.width}×${depth.height}; they must match pixel by pixel`,
    );
  if (depth.space !== "depth") throw new RangeError(`synthesize: the depth map holds ${depth.space}; metres are needed`);
  const wrong = depth.values.findIndex((value, i) => depth.valid[i] === 1 && !(value > 0 && Number.isFinite(value)));
  if (wrong >= 0) {
    const [x, y] = [wrong % depth.width, Math.floor(wrong / depth.width)];
    throw new RangeError(
      `synthesize: the depth at column ${x}, row ${y} is ${depth.values[wrong]} m but marked valid; depths must be positive`,
    );
  }
}

function withWindow(kernel: SynthesisKernel): SynthesisKernel {
  switch (kernel.kind) {
    case "gaussian":
      return { ...kernel, window: kernel.window ?? 7 };
    case "power":
      return { ...kernel, window: kernel.window ?? 15 };
    case "disk":
      return kernel;
  }
}

/** Half of eq. 9's diameter, in pixels, positive nearer than the focus. */
function signedBlurRadius(dioptres: Float64Array, { camera, focusDistance }: { camera: Camera; focusDistance: number }): Float32Array {
  const [perDioptre, focused] = [blurPerDioptre(camera, focusDistance) / 2, 1 / focusDistance];
  const radius = new Float32Array(dioptres.length);
  for (let i = 0; i < radius.length; i++) radius[i] = perDioptre * ((dioptres[i] as number) - focused);
  return radius;
}

function drawPlane(image: Image, signedRadius: Float32Array, kernel: SynthesisKernel): Image {
  switch (kernel.kind) {
    case "disk":
      return layeredBlur({ image, signedRadius });
    case "gaussian":
      return gatherBlur({ image, blurRadius: signedRadius.map(Math.abs) }, { exponent: 2, window: kernel.window ?? 7 });
    case "power":
      return gatherBlur({ image, blurRadius: signedRadius.map(Math.abs) }, { exponent: kernel.exponent, window: kernel.window ?? 15 });
  }
}

function greatest(signedRadius: Float32Array, valid: Uint8Array): number {
  let most = 0;
  for (let i = 0; i < valid.length; i++) if (valid[i]) most = Math.max(most, Math.abs(signedRadius[i] as number));
  return most;
}

const mapValues = (image: Image, convert: (value: number) => number): Image => ({ ...image, data: image.data.map(convert) });
