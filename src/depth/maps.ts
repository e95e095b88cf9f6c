import type { Space } from "../image/depthMap.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import { expectedError, type Average, type ErrorTable } from "../network/facts.ts";
import type { FocusProbability } from "../network/focusProbability.ts";

/** What follows from p at every pixel; the fields are those of `DepthEstimate`. */
export interface DepthMaps {
  readonly depth: Float32Array;
  readonly spread: Float32Array;
  readonly error: Float32Array;
  readonly confidence: Float32Array;
  readonly planeIndex: Uint16Array;
  readonly beyond: Int8Array;
}

/** Share of p on the first or last plane above which a pixel is marked as beyond it; precision and recall are in docs/confidence.md. */
const BEYOND = 0.8;

/**
 * Depth from p, eq. 6, and what goes with it. Distances in metres are averaged as the network was trained: as they are, D̂ = Σ p_n f_n (the
 * paper's arithmetic mean), or in dioptres, D̂ = 1 / Σ (p_n / f_n), where blur is linear, so that a little of p on a far plane means a
 * little blur, not metres of depth. Disparities and plane indices are averaged as they are.
 */
export function depthMaps(
  { planes, width, height, values: p }: FocusProbability,
  { focusDistances, space }: Pick<FocalStack, "focusDistances" | "space">,
  { errorTable, average }: { readonly errorTable: ErrorTable; readonly average: Average },
): DepthMaps {
  const pixels = width * height;
  const scale = depthScale(focusDistances, { space, average });
  const maps = {
    depth: new Float32Array(pixels),
    spread: new Float32Array(pixels),
    error: new Float32Array(pixels),
    confidence: new Float32Array(pixels),
    planeIndex: new Uint16Array(pixels),
    beyond: new Int8Array(pixels),
  };
  const column = new Float64Array(planes);
  const numbers = focusDistances.map((_, n) => n);
  for (let i = 0; i < pixels; i++) {
    for (let n = 0; n < planes; n++) column[n] = p[n * pixels + i] as number;
    const depth = scale.depth(mean(column, scale.even));
    const planesOff = expectedError(errorTable, deviation(column, numbers, mean(column, numbers)));
    const beyond = (column[0] as number) > BEYOND ? -1 : (column[planes - 1] as number) > BEYOND ? 1 : 0;
    maps.depth[i] = depth;
    maps.spread[i] = deviation(column, focusDistances, depth);
    maps.error[i] = planesOff * scale.step(depth);
    maps.confidence[i] = beyond === 0 ? 1 / (1 + (2 * planesOff) ** 2) : 0;
    maps.planeIndex[i] = peakOf(column);
    maps.beyond[i] = beyond;
  }
  return maps;
}

interface DepthScale {
  /** The focus distances in the unit in which they are averaged. */
  readonly even: readonly number[];
  /** Converts a value in that unit to a depth. */
  depth(value: number): number;
  /** Distance between the two planes around a depth, in the unit of the depth. */
  step(depth: number): number;
}

function depthScale(focusDistances: readonly number[], { space, average }: { space: Space; average: Average }): DepthScale {
  const reciprocal = space === "depth" && average === "dioptres";
  const even = reciprocal ? focusDistances.map((distance) => 1 / distance) : focusDistances;
  const rising = space === "disparity" ? -1 : 1;
  const steps = even.slice(1).map((value, n) => Math.abs(value - (even[n] as number)));
  return {
    even,
    depth: (value) => (reciprocal ? 1 / value : value),
    step(depth) {
      let behind = 1;
      while (behind < focusDistances.length - 1 && rising * ((focusDistances[behind] as number) - depth) < 0) behind++;
      const step = steps[behind - 1] as number;
      return reciprocal ? step * depth ** 2 : step; // d(1/x) = dx / x²
    },
  };
}

function mean(p: Float64Array, at: readonly number[]): number {
  let sum = 0;
  for (let n = 0; n < at.length; n++) sum += (p[n] as number) * (at[n] as number);
  return sum;
}

/** The index of the greatest value, the first on a tie. */
function peakOf(p: Float64Array): number {
  let peak = 0;
  for (let n = 1; n < p.length; n++) if ((p[n] as number) > (p[peak] as number)) peak = n;
  return peak;
}

function deviation(p: Float64Array, at: readonly number[], from: number): number {
  let sum = 0;
  for (let n = 0; n < at.length; n++) sum += (p[n] as number) * ((at[n] as number) - from) ** 2;
  return Math.sqrt(sum);
}
