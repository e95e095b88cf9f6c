import { depthMap, type DepthMap } from "../image/depthMap.ts";
import type { Image } from "../image/image.ts";
import { invalidFocusTrend } from "../metrics/focusTrend.ts";
import { focalStack, type FocalStack } from "../stack/focalStack.ts";
import { fuseImages } from "./allInFocus/fusion.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import { percent, type FocusProbability, type PredictOptions } from "../network/focusProbability.ts";
import { depthMaps, type DepthMaps } from "./maps.ts";
import { combineSizes, reducedStack, reducedWeights, lookAt, type Look } from "./twoSizes.ts";

/** The network's estimate for every pixel, in the size of the stack's images. */
export interface DepthEstimate extends Omit<DepthMaps, "depth"> {
  /** `DepthMaps.depth`, with the space of the stack. */
  readonly depth: DepthMap;
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
  const { probability, signs } = await lookInSizes(checked, { network, ...options });
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

/** p of a stack, large images seen in two sizes. */
async function lookInSizes(stack: FocalStack, { network, signal, onProgress }: EstimateOptions): Promise<Look> {
  const smaller = reducedStack(stack);
  if (!smaller) return lookAt(await network.predict(stack, { signal, onProgress }), stack);
  const [few, many] = [smaller, stack].map(pixelsOf) as [number, number]; // time grows with them
  const after = (before: number, pixels: number) => (done: number, of: number) =>
    onProgress?.(percent(before + (pixels * done) / of, few + many), 100);
  const reduced = lookAt(await network.predict(smaller, { signal, onProgress: after(0, few) }), smaller);
  const whole = lookAt(await network.predict(stack, { signal, onProgress: after(few, many) }), stack);
  const weights = reducedWeights(whole, reduced, network.errorModel);
  return { ...whole, probability: combineSizes(whole.probability, reduced.probability, weights) };
}

const pixelsOf = ({ images: [first] }: FocalStack): number => (first as Image).width * (first as Image).height;
