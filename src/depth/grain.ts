import { boxMean } from "../image/boxFilter.ts";
import type { DepthMap } from "../image/depthMap.ts";
import type { DepthEstimate } from "./estimate.ts";

/** Depth is smoothed over this many pixels to each side: a network's grain is that of its logits, four pixels wide. */
const RADIUS = 3;

/** Variation of less than this share of the expected error is grain. */
const GRAIN = 0.1;

/**
 * An even depth map without its grain: variation from pixel to pixel that is far smaller than the expected error e. With m the mean of the depth d around a pixel, and v that of (d − m)²,
 *
 *     z = m + v / (v + σ²) (d − m),    σ = GRAIN e,
 *
 * as the filter of Lee (1980), but each pixel deviates from its own mean, so that a slope is no variation. Where v is much larger than σ², at depth edges and on whatever has relief, depth stays as it is.
 */
export function withoutGrain({ depth, error }: Pick<DepthEstimate, "depth" | "error">): DepthMap {
  const { width, height, values } = depth;
  const mean = (map: Float32Array): Float32Array => boxMean({ width, height, values: map }, RADIUS);
  const means = mean(values);
  const variances = mean(values.map((value, i) => (value - (means[i] as number)) ** 2));
  const smooth = values.map((value, i) => {
    const [m, v] = [means[i] as number, variances[i] as number];
    return v > 0 ? m + (v / (v + (GRAIN * (error[i] as number)) ** 2)) * (value - m) : value;
  });
  return { ...depth, values: smooth };
}
