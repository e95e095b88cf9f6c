import { type Comparison, comparedPixels } from "./comparison.ts";

/**
 * What the Scharr filter leaves on the outermost ring of pixels: `reflect` filters the mirrored image (scikit-image from 0.17 on),
 * `zero` sets the ring to zero after every filter call (up to 0.16: the version behind the published DFV and DDFF numbers).
 */
export type ScharrBorder = "reflect" | "zero";

interface Size {
  readonly width: number;
  readonly height: number;
}

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
      const at = (start: number, offset: number): number => values[start + offset] as number;
      const [nw, ne, sw, se] = [at(above, left), at(above, right), at(below, left), at(below, right)];
      x[here + column] = (3 * (ne - nw) + 10 * (at(here, right) - at(here, left)) + 3 * (se - sw)) / 16;
      y[here + column] = (3 * (sw - nw) + 10 * (at(below, column) - at(above, column)) + 3 * (se - ne)) / 16;
    }
  }
  return { x, y };
}

/**
 * Bump, as Hazirbas et al. (DDFF) and DFV compute it, with E = d - d* over the whole image (d* = 0 where the truth is unknown):
 *
 *     100 / N · Σ min(‖H(E)‖_F, 0.05),   H by applying the Scharr filter twice
 *
 * From 0 to 5. The sum runs over the compared pixels only, but those beside a hole of the truth see its rim, as in the published code.
 */
export function bumpiness(comparison: Comparison, { border = "zero" }: { border?: ScharrBorder } = {}): number {
  const { mask, count } = comparedPixels(comparison, "bumpiness");
  const { depth, trueDepth } = comparison;
  const error = Float64Array.from(depth.values, (value, i) => {
    if (!depth.valid[i]) return 0;
    return value - (trueDepth.valid[i] ? (trueDepth.values[i] as number) : 0);
  });
  const first = scharr(error, depth, border);
  const [ofX, ofY] = [scharr(first.x, depth, border), scharr(first.y, depth, border)];
  let sum = 0;
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    const [xx, xy, yx, yy] = [ofX.x[i] as number, ofX.y[i] as number, ofY.x[i] as number, ofY.y[i] as number];
    sum += Math.min(Math.sqrt(xx * xx + xy * xy + yx * yx + yy * yy), 0.05);
  }
  return (100 * sum) / count;
}

/**
 * Bumpiness as the paper prints it (A.4): (1/N) Σ (∇² dᵢ)², ∇² the five-point Laplacian of the prediction.
 * A neighbour outside the image, or without a value, counts as equal to the centre.
 * No published table was computed with it; compare with `bumpiness` instead.
 */
export function laplacianBumpiness(comparison: Comparison): number {
  const { mask, count } = comparedPixels(comparison, "laplacianBumpiness");
  const { width, height, values, valid } = comparison.depth;
  let sum = 0;
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    const column = i % width;
    const row = (i - column) / width;
    const centre = values[i] as number;
    const rise = (inside: boolean, neighbour: number): number => (inside && valid[neighbour] ? (values[neighbour] as number) - centre : 0);
    const horizontal = rise(column > 0, i - 1) + rise(column < width - 1, i + 1);
    const vertical = rise(row > 0, i - width) + rise(row < height - 1, i + width);
    sum += (horizontal + vertical) ** 2;
  }
  return sum / count;
}
