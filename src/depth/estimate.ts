import { focusSigns } from "../check/evidence.ts";
import { depthMap, type DepthMap } from "../image/depthMap.ts";
import type { Image } from "../image/image.ts";
import { luminance } from "../image/luminance.ts";
import { invalidFocusTrend } from "../metrics/focusTrend.ts";
import { focalStack, type FocalStack } from "../stack/focalStack.ts";
import { fuseImages } from "./allInFocus/fusion.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import type { FocusProbability, PredictOptions } from "../network/focusProbability.ts";
import { depthMaps } from "./maps.ts";

/** The network's estimate for every pixel, in the size of the stack's images. */
export interface DepthEstimate {
  /** D̂: the mean of the focus distances under p (eq. 6), averaged as the network was trained; in the unit of the stack's focus distances. */
  readonly depth: DepthMap;
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
  /** p. */
  readonly probability: FocusProbability;
  /** Every detail from the plane in which it is sharpest; computed when it is first read. */
  readonly allInFocus: Image;
  /** Share of pixels whose p does not rise to a single peak and then fall. */
  readonly invalidFocusTrend: number;
}

export interface EstimateOptions extends PredictOptions {
  readonly network: DepthNetwork;
}

/** Depth, all-in-focus image and confidence of an aligned stack. `signal` stops between runs of the network. */
export async function estimateDepth(stack: FocalStack, { network, ...options }: EstimateOptions): Promise<DepthEstimate> {
  const checked = focalStack(stack);
  const probability = await network.predict(checked, options);
  const signs = focusSigns(checked.images.map(luminance));
  const { depth, ...maps } = depthMaps(probability, checked, { ...network, signs });
  const { width, height } = probability;
  let fused: Image | undefined;
  return {
    depth: depthMap({ width, height, values: depth, space: checked.space }),
    ...maps,
    probability,
    invalidFocusTrend: invalidFocusTrend(probability),
    get allInFocus() {
      return (fused ??= fuseImages(checked.images, probability));
    },
  };
}
