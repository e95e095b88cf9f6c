import { type DepthMap, depthMap } from "../image/depthMap.ts";
import type { FocalStack } from "../stack/focalStack.ts";

/** How sharp each pixel is on each plane: [N, H, W], plane by plane, each row by row. */
export interface SharpnessVolume {
  readonly planes: number;
  readonly width: number;
  readonly height: number;
  readonly values: Float32Array;
}

/** The result of a classical method. */
export interface FocusResult {
  /** In the stack's space; every pixel has a value, reliable or not. */
  readonly depth: DepthMap;
  /** 1 - (mean sharpness of the other planes) / (sharpness of the peak): 0 where all planes are equally sharp, near 1 for one clear peak. */
  readonly confidence: Float32Array;
  readonly sharpness: SharpnessVolume;
}

/**
 * The curve fitted to the sharpest plane and its two neighbours. `gaussian` (Nayar): a parabola through the logarithms, close to how
 * sharpness falls off with defocus and up to twice as accurate; `parabola`: through the values themselves.
 */
export type PeakFit = "gaussian" | "parabola";

/**
 * The sharpest plane k of each pixel, refined by the three-point fit (s or ln s),
 *
 *     n* = k + ½ (s₋ - s₊) / (s₋ - 2 s_k + s₊),
 *
 * then interpolated between the neighbouring focus distances. A peak on the first or last plane stays there.
 */
export function focusPeak(
  sharpness: SharpnessVolume,
  { focusDistances, space, fit = "gaussian" }: Pick<FocalStack, "focusDistances" | "space"> & { readonly fit?: PeakFit },
): FocusResult {
  const { planes, width, height, values } = sharpness;
  const pixels = width * height;
  if (values.length !== planes * pixels || focusDistances.length !== planes)
    throw new RangeError(
      `focusPeak: ${focusDistances.length} focus distances need [${focusDistances.length}, ${height}, ${width}], got ${values.length} values in ${planes} planes`,
    );
  const depth = new Float32Array(pixels);
  const confidence = new Float32Array(pixels);
  for (let i = 0; i < pixels; i++) {
    const { peak, total } = sharpestPlane(values, { start: i, stride: pixels, planes });
    const most = values[peak * pixels + i] as number;
    confidence[i] = most > 0 ? 1 - (total - most) / ((planes - 1) * most) : 0;
    depth[i] = distanceAt(focusDistances, peak + peakOffset(values, { at: peak * pixels + i, stride: pixels, fit }));
  }
  return { depth: depthMap({ width, height, values: depth, space }), confidence, sharpness };
}

function sharpestPlane(
  values: Float32Array,
  { start, stride, planes }: { start: number; stride: number; planes: number },
): { peak: number; total: number } {
  let [peak, most, total] = [0, -Infinity, 0];
  for (let n = 0; n < planes; n++) {
    const value = values[start + n * stride] as number;
    total += value;
    if (value > most) [peak, most] = [n, value];
  }
  return { peak, total };
}

/** The peak of the fitted curve, in planes from the middle one: -½ to ½, since the middle one is the greatest. */
function peakOffset(values: Float32Array, { at, stride, fit }: { at: number; stride: number; fit: PeakFit }): number {
  if (at < stride || at + stride >= values.length) return 0;
  const before = height(values[at - stride] as number, fit);
  const middle = height(values[at] as number, fit);
  const after = height(values[at + stride] as number, fit);
  const curvature = before - 2 * middle + after;
  return curvature < 0 ? (0.5 * (before - after)) / curvature : 0;
}

/** Smoothed sharpness can be zero or slightly negative; its logarithm is clamped. */
const height = (sharpness: number, fit: PeakFit): number => (fit === "gaussian" ? Math.log(Math.max(sharpness, 1e-12)) : sharpness);

/** The focus distance at a fractional plane index, linear between planes. */
function distanceAt(focusDistances: readonly number[], index: number): number {
  const below = Math.min(Math.floor(index), focusDistances.length - 2);
  const [near, far] = [focusDistances[below] as number, focusDistances[below + 1] as number];
  return near + (far - near) * (index - below);
}
