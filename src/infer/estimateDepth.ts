import { depthMap, type DepthMap } from "../depth.ts";
import type { Image } from "../image.ts";
import { invalidFocusTrend } from "../metrics/focusTrend.ts";
import { focalStack, type FocalStack } from "../stack.ts";
import { blendPlanes } from "./blend.ts";
import { focusProbability, type FocusProbability, type ProbabilityOptions } from "./focusProbability.ts";

/** What the network says about a stack, pixel by pixel, in the size of its pictures. */
export interface DepthEstimate {
  /** D̂ = Σ p_n f_n (eq. 6), in the unit of the stack's focus distances. */
  readonly depth: DepthMap;
  /** √(Σ p_n (f_n − D̂)²): how far apart the planes are that the network hesitates between, in the unit of the depth. */
  readonly spread: Float32Array;
  /** 1 where a single plane, or two neighbours, hold all of p; 0 where it is spread over the stack. */
  readonly confidence: Float32Array;
  /** The plane with the largest p. */
  readonly planeIndex: Uint16Array;
  /** p. */
  readonly probability: FocusProbability;
  /** Every pixel from the planes it is sharp in. */
  readonly allInFocus: Image;
  /** Share of pixels whose p does not rise to one peak and fall behind it. */
  readonly invalidFocusTrend: number;
}

/**
 * Depth, all-in-focus picture and confidence of an aligned stack. `session` is the network (see `recordGraph`); `signal` stops between
 * runs of it; `onProgress` is told how many runs are done.
 */
export async function estimateDepth(stack: FocalStack, options: ProbabilityOptions): Promise<DepthEstimate> {
  const checked = focalStack(stack);
  const probability = await focusProbability(checked, options);
  const { planes, width, height, values: p } = probability;
  const pixels = width * height;
  const maps = {
    depth: new Float32Array(pixels),
    spread: new Float32Array(pixels),
    confidence: new Float32Array(pixels),
    planeIndex: new Uint16Array(pixels),
  };
  for (let i = 0; i < pixels; i++) {
    const { mean, deviation } = moments(p, checked.focusDistances, { i, pixels });
    const inPlanes = moments(p, Array.from({ length: planes }, (_, n) => n), { i, pixels }); // prettier-ignore
    maps.depth[i] = mean;
    maps.spread[i] = deviation;
    maps.confidence[i] = Math.max(0, 1 - Math.max(0, inPlanes.deviation - 0.5) / ((planes - 1) / 2)); // ½ plane: between two neighbours
    maps.planeIndex[i] = peak(p, { i, pixels, planes });
  }
  return {
    depth: depthMap({ width, height, values: maps.depth, space: checked.space }),
    spread: maps.spread,
    confidence: maps.confidence,
    planeIndex: maps.planeIndex,
    probability,
    allInFocus: blendPlanes(checked.images, probability),
    invalidFocusTrend: invalidFocusTrend(probability),
  };
}

function moments(
  p: Float32Array,
  at: readonly number[],
  { i, pixels }: { i: number; pixels: number },
): { mean: number; deviation: number } {
  let [mean, square] = [0, 0];
  for (let n = 0; n < at.length; n++) mean += (p[n * pixels + i] as number) * (at[n] as number);
  for (let n = 0; n < at.length; n++) square += (p[n * pixels + i] as number) * ((at[n] as number) - mean) ** 2;
  return { mean, deviation: Math.sqrt(square) };
}

function peak(p: Float32Array, { i, pixels, planes }: { i: number; pixels: number; planes: number }): number {
  let best = 0;
  for (let n = 1; n < planes; n++) if ((p[n * pixels + i] as number) > (p[best * pixels + i] as number)) best = n;
  return best;
}
