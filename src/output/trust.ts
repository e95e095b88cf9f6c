import { isKnown, withMaps, type DepthResult } from "./result.ts";

/**
 * The least confidence at which the error map vouches for a depth: its expected error is at most one plane (docs/confidence.md). One limit for everything that marks doubtful depth or leaves it out.
 */
export const LEAST_CONFIDENCE = 0.2;

/** 1 where depth is known but not vouched for; nothing is doubtful in a result without a confidence. */
export function doubtfulPixels({ depth, confidence }: DepthResult, least = LEAST_CONFIDENCE): Uint8Array {
  const doubtful = new Uint8Array(depth.values.length);
  if (confidence)
    for (let pixel = 0; pixel < doubtful.length; pixel++)
      if (isKnown(depth, pixel) && !((confidence[pixel] as number) >= least)) doubtful[pixel] = 1;
  return doubtful;
}

/** The share of all pixels that is doubtful. */
export function doubtfulFraction(result: DepthResult, least = LEAST_CONFIDENCE): number {
  const doubtful = doubtfulPixels(result, least);
  return doubtful.reduce((sum, each) => sum + each, 0) / (doubtful.length || 1);
}

/** The result with doubtful depth made unknown. The colour range stays that of the whole. */
export function vouchedOnly(result: DepthResult, least = LEAST_CONFIDENCE): DepthResult {
  const doubtful = doubtfulPixels(result, least);
  if (!doubtful.includes(1)) return result;
  const depth = { ...result.depth, valid: result.depth.valid.map((valid, pixel) => (doubtful[pixel] ? 0 : valid)) };
  return withMaps(result, { depth });
}
