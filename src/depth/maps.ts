import type { Space } from "../image/depthMap.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import type { FocusSigns } from "../check/evidence.ts";
import { boxMeanBlock, type Plane } from "../image/boxFilter.ts";
import { curveSums } from "../image/curve.ts";
import type { Size } from "../image/image.ts";
import { blockOf, type Block } from "../image/pyramid.ts";
import { workspace } from "../image/simd/workspace.ts";
import { expectedErrors, stackDoubt, stackFactor, type Average, type Cue, type ErrorModel } from "../network/facts.ts";
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
  /** −1 at the first plane or nearer, +1 at the last or farther, else 0. The depth is that of the end plane; how far beyond is unknown, and no part of `error`. */
  readonly beyond: Int8Array;
}

/** Share of p on the first or last plane above which a pixel is marked as beyond it; precision and recall are in docs/confidence.md. */
const BEYOND = 0.8;

/** Radii of the squares around a pixel that its cues are measured over, and of those that have a corner at it (enclosure), as shares of the image's shorter side. */
const REACH = { ripple: 1 / 128, unrest: 1 / 32, surroundings: 1 / 16, region: 1 / 8, enclosure: 1 / 10 } as const;

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
  const scale = depthScale(focusDistances, { space, average });
  const cues = errorCues(probability, signs);
  const planesOff = expectedErrors(errorModel, cues);
  const { depth, spread } = depthOfPlanes(probability, focusDistances, scale);
  const pixels = depth.length;
  const [error, confidence] = [new Float32Array(pixels), new Float32Array(pixels)] as const;
  const whole = stackFactor(errorModel, { doubt: stackDoubt(planesOff, probability.planes), mismatch: signs.mismatch });
  for (let i = 0; i < pixels; i++) {
    const off = whole * (planesOff[i] as number);
    error[i] = off * scale.step(depth[i] as number);
    confidence[i] = confidenceOf(off);
  }
  const unfounded = curveSums([{ values: cues.surroundings, curve: { at: [0, LITTLE_EVIDENCE], levels: [1, 0] } }]);
  return { depth, spread, error, confidence, unfounded, unrest: cues.unrest, beyond: beyondPlanes(probability) };
}

/** −1 where nearly all of p is on the first plane, 1 on the last. */
function beyondPlanes({ planes, width, height, values: p }: FocusProbability): Int8Array {
  const pixels = width * height;
  const beyond = new Int8Array(pixels);
  const last = (planes - 1) * pixels;
  for (let i = 0; i < pixels; i++) beyond[i] = (p[i] as number) > BEYOND ? -1 : (p[last + i] as number) > BEYOND ? 1 : 0;
  return beyond;
}

/** D̂ (eq. 6), and the standard deviation of the focus distance under p. */
function depthOfPlanes(
  probability: FocusProbability,
  focusDistances: readonly number[],
  { even, isReciprocal }: DepthScale,
): Pick<DepthMaps, "depth" | "spread"> {
  const pixels = probability.width * probability.height;
  const { kernels, take, put, view, scoped } = workspace();
  const [depth, spread] = [new Float32Array(pixels), new Float32Array(pixels)] as const;
  scoped(() => {
    const scales = [put(Float64Array.from(even)), put(Float64Array.from(focusDistances)), Number(isReciprocal)] as const;
    const rooms = [take(PART), take(PART)] as const;
    forEachPart(probability, ({ start, count, address, stride }) => {
      kernels.depthOfPlanes(...rooms, address, stride, probability.planes, count, ...scales);
      for (const [k, map] of [depth, spread].entries()) map.set(view(rooms[k] as number, count), start);
    });
  });
  return { depth, spread };
}

/** Pixels at a time, so that they stay in the processor's cache. */
const PART = 4096;

interface Part {
  readonly start: number;
  readonly count: number;
  /** Of p in the workspace, and bytes from a plane to the next. */
  readonly address: number;
  readonly stride: number;
}

/** Calls `use` with part after part of p. */
function forEachPart({ planes, width, height, values }: FocusProbability, use: (part: Part) => void): void {
  const pixels = width * height;
  const { take, view, scoped } = workspace();
  scoped(() => {
    const address = take(planes * PART);
    for (let start = 0; start < pixels; start += PART) {
      const count = Math.min(PART, pixels - start);
      for (let n = 0; n < planes; n++)
        view(address + 4 * n * PART, count).set(values.subarray(n * pixels + start, n * pixels + start + count));
      use({ start, count, address, stride: 4 * PART });
    }
  });
}

/** The confidence that goes with an expected error in planes, and back. */
const confidenceOf = (planesOff: number): number => 1 / (1 + (2 * planesOff) ** 2);
export const expectedPlanes = (confidence: number): number => Math.sqrt(1 / confidence - 1) / 2;

/** Planes. Where depths are weighed by their expected errors, these are taken as so much at least. */
export const LEAST_ERROR = 0.03;

/**
 * What the error of each pixel is read from (docs/confidence.md), in planes but for the evidence. With m = Σ p_n n: the standard deviation of p, that times the largest p_n, the deviation of m
 * around the pixel and next to it, evidence in the images there, around it, farther around it and in the barest of the four squares that have a corner at it, and how far the
 * plane that they are sharpest in lies from m, as far as there is evidence for it.
 */
export function errorCues(probability: FocusProbability, { evidence, sharpest }: Omit<FocusSigns, "mismatch">): Record<Cue, Float32Array> {
  const { width, height } = probability;
  const pixels = width * height;
  const { kernels, take, view, scoped } = workspace();
  const { means, deviations: spread, tails: tail } = planeMoments(probability);
  return scoped(() => {
    const block = (data: Float32Array): Block => blockOf({ width, height, channels: 1, data });
    const around = (map: Block, share: number): number => boxMeanBlock(map, reachOf(probability, share)).address;
    const mean = block(means);
    const square = { ...mean, address: take(pixels) };
    kernels.energies(square.address, mean.address, pixels, 1);
    const deviationWithin = (share: number): Float32Array =>
      scoped(() => {
        const deviation = around(mean, share);
        kernels.deviations(deviation, around(square, share), pixels);
        return view(deviation, pixels).slice();
      });
    const weights = block(evidence);
    const meanWithin = (share: number): Float32Array => scoped(() => view(around(weights, share), pixels).slice());
    const disagreement = take(pixels);
    view(disagreement, pixels).set(sharpest);
    kernels.weighDistances(disagreement, mean.address, weights.address, pixels);
    return {
      spread,
      tail,
      unrest: deviationWithin(REACH.unrest),
      ripple: deviationWithin(REACH.ripple),
      evidence,
      surroundings: meanWithin(REACH.surroundings),
      region: meanWithin(REACH.region),
      enclosure: leastAtCorners({ width, height, values: meanWithin(REACH.enclosure) }, reachOf(probability, REACH.enclosure)),
      disagreement: view(disagreement, pixels).slice(),
    };
  });
}

/** The least of the values `reach` pixels away in each diagonal direction, or at the image's border. */
function leastAtCorners({ width, height, values }: Plane, reach: number): Float32Array {
  const [row, least] = [new Float32Array(values.length), new Float32Array(values.length)];
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) {
      const [left, right] = [i - Math.min(x, reach), i + Math.min(width - 1 - x, reach)];
      row[i] = Math.min(values[left] as number, values[right] as number);
    }
  for (let y = 0, i = 0; y < height; y++) {
    const [above, below] = [-Math.min(y, reach) * width, Math.min(height - 1 - y, reach) * width];
    for (let x = 0; x < width; x++, i++) least[i] = Math.min(row[i + above] as number, row[i + below] as number);
  }
  return least;
}

/** Mean Σ p_n n, standard deviation of p, and that times the largest p_n at every pixel, in planes. */
export function planeMoments(probability: FocusProbability): Readonly<Record<"means" | "deviations" | "tails", Float32Array>> {
  const pixels = probability.width * probability.height;
  const { kernels, take, view, scoped } = workspace();
  const [means, deviations, tails] = [new Float32Array(pixels), new Float32Array(pixels), new Float32Array(pixels)] as const;
  scoped(() => {
    const rooms = [take(PART), take(PART), take(PART)] as const;
    forEachPart(probability, ({ start, count, address, stride }) => {
      kernels.planeMoments(...rooms, address, stride, probability.planes, count);
      for (const [k, map] of [means, deviations, tails].entries()) map.set(view(rooms[k] as number, count), start);
    });
  });
  return { means, deviations, tails };
}

interface DepthScale {
  /** The focus distances in the unit in which they are averaged. */
  readonly even: readonly number[];
  /** Whether a depth is 1 over a value in that unit. */
  readonly isReciprocal: boolean;
  /** Distance between the two planes around a depth, in the unit of the depth. */
  step(depth: number): number;
}

function depthScale(focusDistances: readonly number[], { space, average }: { space: Space; average: Average }): DepthScale {
  const isReciprocal = space === "depth" && average === "dioptres";
  const even = isReciprocal ? focusDistances.map((distance) => 1 / distance) : focusDistances;
  const rising = space === "disparity" ? -1 : 1;
  const steps = even.slice(1).map((value, n) => Math.abs(value - (even[n] as number)));
  return {
    even,
    isReciprocal,
    step(depth) {
      let behind = 1;
      while (behind < focusDistances.length - 1 && rising * ((focusDistances[behind] as number) - depth) < 0) behind++;
      const step = steps[behind - 1] as number;
      return isReciprocal ? step * depth ** 2 : step; // d(1/x) = dx / x²
    },
  };
}
