import type { Space } from "../image/depthMap.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import type { FocusSigns } from "../check/evidence.ts";
import { boxMean } from "../image/boxFilter.ts";
import type { Size } from "../image/image.ts";
import { expectedError, stackDoubt, stackFactor, type Average, type Cue, type ErrorModel } from "../network/facts.ts";
import type { FocusProbability } from "../network/focusProbability.ts";

/** What follows from p at every pixel. */
export interface DepthMaps {
  /** D̂: the mean of the focus distances under p (eq. 6), averaged as the network was trained; in the unit of the stack's focus distances. */
  readonly depth: Float32Array;
  /** √(Σ p_n (f_n − D̂)²): standard deviation of the focus distance under p, in the unit of the depth. */
  readonly spread: Float32Array;
  /** ±e, in the unit of the depth: of pixels within the planes that are given ±e, about 68 % lie within e (docs/confidence.md). */
  readonly error: Float32Array;
  /** 1 / (1 + (2e)²) with e in planes: 1 is certain, ½ is half a plane off. */
  readonly confidence: Float32Array;
  /** 0 to 1: how far the depth rests on nothing, in surroundings where no plane is sharper than another: a plain wall. 0 where it is founded. */
  readonly unfounded: Float32Array;
  /** The standard deviation of Σ p_n n around the pixel, in planes: large at depth edges, and where the network guesses. */
  readonly unrest: Float32Array;
  /** The plane with the largest p. */
  readonly planeIndex: Uint16Array;
  /** −1 at the first plane or nearer, +1 at the last or farther, else 0. The depth is that of the end plane; how far beyond is unknown, and no part of `error`. */
  readonly beyond: Int8Array;
}

/** Share of p on the first or last plane above which a pixel is marked as beyond it; precision and recall are in docs/confidence.md. */
const BEYOND = 0.8;

/** Radii of the squares around a pixel that its cues are measured over, as shares of the image's shorter side. */
const REACH = { ripple: 1 / 128, unrest: 1 / 32, surroundings: 1 / 16 } as const;

/** Depth is unfounded where the mean evidence of its surroundings is below this. */
const LITTLE_EVIDENCE = 0.03;

/** A share of the shorter side, in pixels. */
const reachOf = ({ width, height }: Size, share: number): number => Math.max(Math.round(share * Math.min(width, height)), 1);

/** What the maps are made with: the network's own average and error model, and what the images show of focus. */
export interface MapOptions {
  readonly average: Average;
  readonly errorModel: ErrorModel;
  readonly signs: FocusSigns;
}

/**
 * Depth from p, eq. 6, and what goes with it. Distances in metres are averaged as the network was trained: as they are, D̂ = Σ p_n f_n (the
 * paper's arithmetic mean), or in dioptres, D̂ = 1 / Σ (p_n / f_n), where blur is linear, so that a little of p on a far plane means a
 * little blur, not metres of depth. Positions, disparities and plane indices are averaged as they are.
 */
export function depthMaps(
  probability: FocusProbability,
  { focusDistances, space }: Pick<FocalStack, "focusDistances" | "space">,
  { average, errorModel, signs }: MapOptions,
): DepthMaps {
  const { planes, width, height, values: p } = probability;
  const pixels = width * height;
  const scale = depthScale(focusDistances, { space, average });
  const cues = errorCues(probability, signs);
  const errorOf = expectedError(errorModel);
  const planesOff = new Float32Array(pixels);
  const maps = {
    depth: new Float32Array(pixels),
    spread: new Float32Array(pixels),
    error: new Float32Array(pixels),
    confidence: new Float32Array(pixels),
    unfounded: new Float32Array(pixels),
    unrest: new Float32Array(pixels),
    planeIndex: new Uint16Array(pixels),
    beyond: new Int8Array(pixels),
  };
  const column = new Float64Array(planes);
  for (let i = 0; i < pixels; i++) {
    for (let n = 0; n < planes; n++) column[n] = p[n * pixels + i] as number;
    const depth = scale.depth(mean(column, scale.even));
    const seen = cues(i);
    planesOff[i] = errorOf(seen);
    maps.depth[i] = depth;
    maps.spread[i] = deviation(column, focusDistances, depth);
    maps.unfounded[i] = Math.max(1 - seen.surroundings / LITTLE_EVIDENCE, 0);
    maps.unrest[i] = seen.unrest;
    maps.planeIndex[i] = peakOf(column);
    maps.beyond[i] = (column[0] as number) > BEYOND ? -1 : (column[planes - 1] as number) > BEYOND ? 1 : 0;
  }
  const whole = stackFactor(errorModel, stackDoubt(planesOff, planes));
  for (let i = 0; i < pixels; i++) {
    const off = whole * (planesOff[i] as number);
    maps.error[i] = off * scale.step(maps.depth[i] as number);
    maps.confidence[i] = confidenceOf(off);
  }
  return maps;
}

/** The confidence that goes with an expected error in planes, and back. */
const confidenceOf = (planesOff: number): number => 1 / (1 + (2 * planesOff) ** 2);
export const expectedPlanes = (confidence: number): number => Math.sqrt(1 / confidence - 1) / 2;

/**
 * What the error of pixel i is read from (docs/confidence.md), in planes but for the evidence. With m = Σ p_n n: the standard deviation of p, that of m
 * around the pixel and next to it, evidence in the images there and around it, and how far the plane that they are sharpest in lies from m, as far as there
 * is evidence for it.
 */
export function errorCues(probability: FocusProbability, { evidence, sharpest }: FocusSigns): (i: number) => Readonly<Record<Cue, number>> {
  const { width, height } = probability;
  const around = (values: Float32Array, share: number): Float32Array => boxMean({ width, height, values }, reachOf(probability, share));
  const { means, variances } = planeMoments(probability);
  const squares = means.map((value) => value * value);
  const deviationWithin = (share: number): ((i: number) => number) => {
    const [mean, square] = [around(means, share), around(squares, share)];
    return (i) => Math.sqrt(Math.max((square[i] as number) - (mean[i] as number) ** 2, 0));
  };
  const [unrest, ripple] = [deviationWithin(REACH.unrest), deviationWithin(REACH.ripple)];
  const surroundings = around(evidence, REACH.surroundings);
  return (i) => ({
    spread: Math.sqrt(variances[i] as number),
    unrest: unrest(i),
    ripple: ripple(i),
    evidence: evidence[i] as number,
    surroundings: surroundings[i] as number,
    disagreement: (evidence[i] as number) * Math.abs((sharpest[i] as number) - (means[i] as number)),
  });
}

/** Mean Σ p_n n and variance of p at every pixel, in planes. */
export function planeMoments({ planes, values: p }: Pick<FocusProbability, "planes" | "values">): {
  readonly means: Float32Array;
  readonly variances: Float32Array;
} {
  const pixels = p.length / planes;
  const [means, variances] = [new Float32Array(pixels), new Float32Array(pixels)];
  for (let n = 0; n < planes; n++) for (let i = 0; i < pixels; i++) means[i] = (means[i] as number) + n * (p[n * pixels + i] as number);
  for (let n = 0; n < planes; n++)
    for (let i = 0; i < pixels; i++)
      variances[i] = (variances[i] as number) + (p[n * pixels + i] as number) * (n - (means[i] as number)) ** 2;
  return { means, variances };
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
