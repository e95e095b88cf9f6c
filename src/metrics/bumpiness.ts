import type { DepthMap } from "../image/depthMap.ts";
import type { Size } from "../image/image.ts";
import { type Comparison, comparedPixels } from "./comparison.ts";

/**
 * How the Scharr filter treats the outermost ring of pixels: `reflect` filters the mirrored image (scikit-image since 0.17),
 * `zero` sets the ring to zero after every filter call (up to 0.16, the version behind the published DFV and DDFF numbers).
 */
export type ScharrBorder = "reflect" | "zero";

/**
 * Derivatives by the Scharr filter, [1 0 -1] across and [3 10 3] / 16 along, sign as in a convolution.
 * [1 0 -1] spans two pixels, so the result is about twice the derivative: the published numbers contain this factor.
 */
function scharr(values: Float64Array, { width, height }: Size, border: ScharrBorder): { x: Float64Array; y: Float64Array } {
  const [x, y] = [new Float64Array(values.length), new Float64Array(values.length)];
  const edge = border === "zero" ? 1 : 0;
  for (let row = edge; row < height - edge; row++) {
    const above = Math.max(row - 1, 0) * width;
    const here = row * width;
    const below = Math.min(row + 1, height - 1) * width;
    for (let column = edge; column < width - edge; column++) {
      const left = Math.max(column - 1, 0);
      const right = Math.min(column + 1, width - 1);
      const northWest = values[above + left] as number;
      const northEast = values[above + right] as number;
      const southWest = values[below + left] as number;
      const southEast = values[below + right] as number;
      const across = (values[here + right] as number) - (values[here + left] as number);
      const down = (values[below + column] as number) - (values[above + column] as number);
      x[here + column] = (3 * (northEast - northWest + southEast - southWest) + 10 * across) / 16;
      y[here + column] = (3 * (southWest - northWest + southEast - northEast) + 10 * down) / 16;
    }
  }
  return { x, y };
}

/**
 * Bump, as Hazirbas et al. (DDFF) and DFV compute it, with E = d - d* over the whole image (d* = 0 where the truth is unknown):
 *
 *     100 / N · Σ min(‖H(E)‖_F, 0.05),   H by applying the Scharr filter twice
 *
 * From 0 to 5. The sum is over the compared pixels only, but pixels next to a hole in the truth see its edge, as in the published code.
 */
export function bumpiness(comparison: Comparison, { border = "zero" }: { border?: ScharrBorder } = {}): number {
  const { mask, count } = comparedPixels(comparison, "bumpiness");
  const { depth, trueDepth } = comparison;
  const error = new Float64Array(depth.values.length);
  for (let i = 0; i < error.length; i++) {
    if (!depth.valid[i]) continue;
    error[i] = (depth.values[i] as number) - (trueDepth.valid[i] ? (trueDepth.values[i] as number) : 0);
  }
  const first = scharr(error, depth, border);
  const [ofX, ofY] = [scharr(first.x, depth, border), scharr(first.y, depth, border)];
  let sum = 0;
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    const squares = (ofX.x[i] as number) ** 2 + (ofX.y[i] as number) ** 2 + (ofY.x[i] as number) ** 2 + (ofY.y[i] as number) ** 2;
    sum += Math.min(Math.sqrt(squares), 0.05);
  }
  return (100 * sum) / count;
}

/**
 * Bumpiness as defined in the paper (A.4): (1/N) Σ (∇² dᵢ)², ∇² the five-point Laplacian of the prediction.
 * A neighbour outside the image, or without a value, counts as equal to the centre.
 * No published table was computed with it; compare with `bumpiness` instead.
 */
export function laplacianBumpiness(comparison: Comparison): number {
  const { mask, count } = comparedPixels(comparison, "laplacianBumpiness");
  const { depth } = comparison;
  let sum = 0;
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    const column = i % depth.width;
    const horizontal = (column > 0 ? rise(depth, i, i - 1) : 0) + (column < depth.width - 1 ? rise(depth, i, i + 1) : 0);
    sum += (horizontal + rise(depth, i, i - depth.width) + rise(depth, i, i + depth.width)) ** 2;
  }
  return sum / count;
}

/** Above the first row and below the last, `valid` is undefined, so the difference there is 0 too. */
const rise = ({ values, valid }: DepthMap, from: number, to: number): number =>
  valid[to] ? (values[to] as number) - (values[from] as number) : 0;
