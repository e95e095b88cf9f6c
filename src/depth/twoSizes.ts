import { focusSigns, type FocusSigns } from "../check/evidence.ts";
import { sizeOf, type Image, type Size } from "../image/image.ts";
import { luminance } from "../image/luminance.ts";
import { resize } from "../image/resize.ts";
import { sizeWithin } from "../image/shrink.ts";
import { enlarge } from "../image/upsample.ts";
import { expectedErrors, type ErrorModel } from "../network/facts.ts";
import type { FocusProbability } from "../network/focusProbability.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import { errorCues } from "./maps.ts";
import { LEAST_SIDE } from "./working.ts";

/*
 * A network's context covers about as many pixels as its training images had. In a larger photo it is too little to find the depth of a plain wall, while fine texture and edges
 * need every pixel. So the network sees large images reduced as well, and its two answers are combined (docs/depth.md). The constants were chosen on the first scenes of the
 * rendered benchmarks in 768×768 (bench/photoSize.ts --scenes-of benchmark).
 */

/** The reduced images are this many pixels long, or this share of the images if that is more: texture that shows focus only in full size must not disappear altogether. */
const REDUCED = { side: 384, share: 1 / 3 } as const;

/** Images are seen in two sizes if they are this many times as long as the reduced ones: the answers would be too alike otherwise. */
const LEAST_REDUCTION = 1.5;

/** How far p goes towards that of the reduced images at most: the whole ones always count. */
const MOST_WEIGHT = 0.7;

/** The mean evidence of the surroundings from which on the claimed errors alone decide. */
const ENOUGH_EVIDENCE = 0.6;

/** The errors that are claimed for the reduced images count this much: where both sizes claim the same, the smaller has seen more of its surroundings. */
const REDUCED_ERROR_FACTOR = 0.5;

/** The size in which the network sees images of this size as well; undefined if they are hardly larger than that, or would be too narrow. */
export function reducedSize({ width, height }: Size): Size | undefined {
  const longer = Math.max(width, height);
  const side = Math.max(REDUCED.side, Math.round(REDUCED.share * longer));
  if (longer < LEAST_REDUCTION * side) return undefined;
  const size = sizeWithin({ width, height }, side);
  return Math.min(size.width, size.height) < LEAST_SIDE ? undefined : size;
}

/** The stack in that size. */
export function reducedStack(stack: FocalStack): FocalStack | undefined {
  const size = reducedSize(stack.images[0] as Image);
  return size && { ...stack, images: stack.images.map((image) => resize(image, { ...size, filter: "linear" })) };
}

/** A network's answer in one size, and what the images show of focus there. */
export interface Look {
  readonly probability: FocusProbability;
  readonly signs: FocusSigns;
}

export const lookAt = (probability: FocusProbability, { images }: FocalStack): Look => ({
  probability,
  signs: focusSigns(images.map(luminance)),
});

/**
 * How far p goes towards that of the reduced images, at every pixel: fully where nothing around it shows focus, elsewhere by the squares of the errors that are claimed for the
 * two sizes.
 */
export function reducedWeights(whole: Look, reduced: Look, model: ErrorModel): Float32Array {
  const cuesOf = ({ probability, signs }: Look): ReturnType<typeof errorCues> => errorCues(probability, signs);
  const cues = cuesOf(whole);
  const other = enlarge({ ...sizeOf(reduced.probability), values: expectedErrors(model, cuesOf(reduced)) }, whole.probability);
  return expectedErrors(model, cues).map((error, i) => {
    const bare = Math.max(1 - (cues.surroundings[i] as number) / ENOUGH_EVIDENCE, 0);
    const share = error ** 2 / (error ** 2 + (REDUCED_ERROR_FACTOR * (other[i] as number)) ** 2);
    return MOST_WEIGHT * (bare + (1 - bare) * share);
  });
}

/**
 * p of a stack from p of its images as they are and reduced. With ↓ the reduction to the small size (antialiased) and ↑ the enlargement back (bilinear):
 *
 *     p = p_whole + w ↑(p_reduced − ↓p_whole),    w at each pixel from `reducedWeights`,
 *
 * without what falls below 0, and scaled to a sum of 1. What the small size cannot show, edges and thin things, stays as p_whole has it; the level of areas is that of
 * both, by the weights w. Overwrites the values of `whole`.
 */
export function combineSizes(whole: FocusProbability, reduced: FocusProbability, weights: Float32Array): FocusProbability {
  const { planes, width, height, values } = whole;
  const pixels = width * height;
  const total = new Float32Array(pixels);
  for (let n = 0; n < planes; n++) {
    const plane = values.subarray(n * pixels, (n + 1) * pixels);
    const change = enlarge({ ...sizeOf(reduced), values: difference({ width, height, values: plane }, reduced, n) }, whole);
    for (let i = 0; i < pixels; i++) {
      const p = Math.max((plane[i] as number) + (weights[i] as number) * (change[i] as number), 0);
      plane[i] = p;
      total[i] = (total[i] as number) + p;
    }
  }
  for (let n = 0; n < planes; n++)
    for (let i = 0, at = n * pixels; i < pixels; i++, at++) values[at] = (values[at] as number) / (total[i] as number);
  return whole;
}

/** p_reduced − ↓p_whole of one plane. */
function difference(whole: Size & { readonly values: Float32Array }, reduced: FocusProbability, plane: number): Float32Array {
  const { width, height, values } = reduced;
  const low = resize({ ...sizeOf(whole), channels: 1, data: whole.values }, { width, height, filter: "linear" }).data;
  const start = plane * width * height;
  for (let i = 0; i < low.length; i++) low[i] = (values[start + i] as number) - (low[i] as number);
  return low;
}
