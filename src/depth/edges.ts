import type { DepthMap } from "../image/depthMap.ts";
import { extreme } from "../image/extreme.ts";
import type { Image } from "../image/image.ts";
import type { DepthEstimate } from "./estimate.ts";
import { expectedPlanes } from "./maps.ts";

/** There is a depth edge where the depths of the 5×5 pixels around one differ by more than this many times its expected error. */
const SIGNIFICANT = 1.5;

/** The window of the median, and how far away a neighbour counts 1/√e of what it counts next to the pixel; in pixels: a network leaves edges soft over about four. */
const [RADIUS, REACH] = [3, 2];

/** A neighbour's colour is like the pixel's if it differs by less than this share of the root mean square difference in the window. */
const LIKE = 0.5;

/** Errors count as this many planes at least. */
const LEAST_ERROR = 0.03;

type EdgeSource = Pick<DepthEstimate, "depth" | "error" | "confidence" | "allInFocus">;

/**
 * The depth with its edges where the image has them. A network decides at a quarter of the resolution, so across a depth edge its depth changes gradually, over a few pixels. There each depth
 * becomes the median of those around it, weighed by
 *
 *     w_j = exp(−|c_j − c_i|² / 2σ²) · exp(−r²_ij / 2ρ²) / √e_j,   σ² = LIKE² · mean_j |c_j − c_i|²
 *
 * with c the colours of the all-in-focus image, r the distance between pixels, and e the expected error in planes: pixels of one colour take the depth that most of them, and the surest of them, have. As a median it is a
 * depth that was measured nearby, never one between object and background; as σ follows the contrast around the pixel, it does not depend on exposure. All other depth is untouched.
 */
export function edgesOfImage({ depth, error, confidence, allInFocus }: EdgeSource): DepthMap {
  const { width, height } = depth;
  const jumps = jumpsOf(depth);
  const trust = confidence.map((each) => 1 / Math.sqrt(Math.max(expectedPlanes(each), LEAST_ERROR)));
  const medianAt = weightedMedian(depth, allInFocus, trust);
  const values = depth.values.slice();
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) if ((jumps[i] as number) > SIGNIFICANT * (error[i] as number)) values[i] = medianAt(x, y);
  return { ...depth, values };
}

/** The greatest difference of the depths of the 5×5 pixels around each. */
function jumpsOf({ width, height, values }: DepthMap): Float32Array {
  const within = (choose: typeof Math.min): Float32Array => {
    const near = extreme({ width, height, values }, choose);
    return extreme({ width, height, values: near }, choose);
  };
  const least = within(Math.min);
  return within(Math.max).map((most, i) => most - (least[i] as number));
}

/** Of the depths in the window around a pixel, by the likeness of their colours, by how near they are, and by `trust`. */
function weightedMedian(
  { width, height, values }: DepthMap,
  { channels, data }: Image,
  trust: Float32Array,
): (x: number, y: number) => number {
  const most = (2 * RADIUS + 1) ** 2;
  const [depths, squares, weights] = [new Float32Array(most), new Float64Array(most), new Float64Array(most)] as const;
  const nearness = Array.from({ length: 2 * RADIUS ** 2 + 1 }, (_, square) => Math.exp(-square / (2 * REACH ** 2)));
  return (x, y) => {
    const own = (y * width + x) * channels;
    const [left, right] = [Math.max(x - RADIUS, 0), Math.min(x + RADIUS, width - 1)];
    const [top, bottom] = [Math.max(y - RADIUS, 0), Math.min(y + RADIUS, height - 1)];
    let count = 0;
    let sum = 0;
    for (let v = top; v <= bottom; v++)
      for (let u = left, j = v * width + left; u <= right; u++, j++, count++) {
        let square = 0;
        for (let c = 0; c < channels; c++) square += ((data[j * channels + c] as number) - (data[own + c] as number)) ** 2;
        squares[count] = square;
        sum += square;
        depths[count] = values[j] as number;
        weights[count] = (nearness[(u - x) ** 2 + (v - y) ** 2] as number) * (trust[j] as number);
      }
    if (sum > 0) {
      const scale = -count / (2 * LIKE ** 2 * sum); // −1 / 2σ²
      for (let k = 0; k < count; k++) weights[k] = (weights[k] as number) * Math.exp(scale * (squares[k] as number));
    }
    return medianOf(depths, weights, count);
  };
}

/** The first value, in increasing order, at which the weights reach half of their sum; sorts both. */
function medianOf(values: Float32Array, weights: Float64Array, count: number): number {
  let total = weights[0] as number;
  for (let k = 1; k < count; k++) {
    const [value, weight] = [values[k] as number, weights[k] as number];
    let at = k;
    for (; at > 0 && (values[at - 1] as number) > value; at--) {
      values[at] = values[at - 1] as number;
      weights[at] = weights[at - 1] as number;
    }
    values[at] = value;
    weights[at] = weight;
    total += weight;
  }
  let [at, reached] = [0, weights[0] as number];
  while (reached < total / 2) reached += weights[++at] as number;
  return values[at] as number;
}
