import { type Agreement, BLOCKS, type Points } from "./points.ts";
import type { Size } from "../image/image.ts";
import { nthSmallest } from "../image/quantile.ts";
import { workspace } from "../image/simd/workspace.ts";
import type { Linear } from "./similarity.ts";
import { meanSquaredRadius } from "./similarity.ts";
import { solveSymmetric } from "./solve.ts";

/** One level of two frames, compared under the current transform. */
export interface Compared extends Agreement {
  readonly points: Points;
}

export interface Solution {
  /** The small transform of the first frame that explains the differences best. */
  readonly small: Linear;
  /** Its standard error in pixels, root mean square over the image. */
  readonly error: number;
  /** Unexplained motion in pixels: root mean square over the blocks of the shift that would fit each best. */
  readonly residual: number;
}

/** Neighbouring pixels of a band-passed image are correlated: this many carry as much information as one independent pixel. */
const REPETITION = 6;

/** Coherence is clamped to this range: less carries no information, and 1 would have infinite weight. */
const COHERENCE = [0.05, 0.97] as const;

/**
 * Weighted least squares over all levels,
 *
 *     difference ≈ ρ ∇value · (∂a p + ∂b p⊥ + ∂t)
 *
 * ρ is the block's coherence: of a pattern that is partly noise or blur, only the share ρ follows the motion, so the weight of least
 * variance is ρ/(1 - ρ²), times Cauchy's robust weight for each pixel. Undefined if there is too little detail.
 */
export function solveMotion(levels: readonly Compared[], size: Size): Solution | undefined {
  const radius = Math.hypot(size.width, size.height) / 2;
  const blocks = blockSums(levels, radius);
  const sums = totals(blocks);
  const matrix = MATRIX.map((i) => sums[i] as number);
  const solved = solveSymmetric(matrix, sums.subarray(PRODUCTS));
  if (!solved) return undefined;
  const [da, db, dx, dy] = Array.from(solved) as [number, number, number, number];
  const error = Math.sqrt(REPETITION * meanVariance(matrix, meanSquaredRadius(size) / radius ** 2));
  return { small: { a: 1 + da / radius, b: db / radius, x: dx, y: dy }, error, residual: blockMotion(blocks) };
}

/** Per block: the ten products of the derivatives by (a, b, x, y), and the four products with the difference. */
const [PRODUCTS, SUMS] = [10, 14];

/** Where the elements of the symmetric matrix are among the products aa, ab, ax, ay, bb, bx, by, xx, xy, yy. */
const MATRIX = [0, 1, 2, 3, 1, 4, 5, 6, 2, 5, 7, 8, 3, 6, 8, 9];
/** The same of the part of (x, y). */
const [XX, XY, YY, GX, GY] = [7, 8, 9, 12, 13];

function blockSums(levels: readonly Compared[], radius: number): Float64Array {
  const { kernels, put, doubles, scoped } = workspace();
  return scoped(() => {
    const blocks = put(new Float32Array(2 * BLOCKS ** 2 * SUMS));
    for (const { points, difference, coherence } of levels) {
      const { columns, rows, x, y, bounds, rowBlocks, slopeX, slopeY } = points;
      const narrow = 1 / (2.385 * spreadOf(difference, columns * rows) + 1e-9); // 95 % efficient if the differences are normal
      const shares = put(Float32Array.from(coherence, (value) => Math.min(Math.max(value, COHERENCE[0]), COHERENCE[1])));
      const grid = [x, y, bounds, rowBlocks, columns, rows] as const;
      kernels.accumulatePoints(blocks, difference, ...grid, slopeX, slopeY, shares, narrow, 1 / radius);
    }
    return doubles(blocks, BLOCKS ** 2 * SUMS).slice();
  });
}

/** The sums over all blocks. */
function totals(blocks: Float64Array): Float64Array {
  const sums = new Float64Array(SUMS);
  for (let i = 0; i < blocks.length; i++) sums[i % SUMS] = (sums[i % SUMS] as number) + (blocks[i] as number);
  return sums;
}

/** The standard deviation of the differences at an address, from the median of some thousands of their magnitudes. */
function spreadOf(address: number, count: number): number {
  const difference = workspace().view(address, count);
  const stride = Math.max(1, Math.floor(count / 4000));
  const sizes = new Float32Array(Math.ceil(count / stride));
  let known = 0;
  for (let i = 0; i < count; i += stride) {
    const size = Math.abs(difference[i] as number);
    if (size >= 0) sizes[known++] = size; // not NaN
  }
  return known === 0 ? 0 : 1.4826 * nthSmallest(sizes.subarray(0, known), known >> 1);
}

/** Mean squared error of a point: variance of the shift, and of a and b at their mean squared distance from the centre. */
function meanVariance(matrix: readonly number[], turning: number): number {
  const variance = (axis: number): number =>
    solveSymmetric(
      matrix,
      Array.from({ length: 4 }, (_, i) => (i === axis ? 1 : 0)),
    )?.[axis] ?? Infinity;
  return (variance(0) + variance(1)) * turning + variance(2) + variance(3);
}

/** Each block is weighted by its information. */
function blockMotion(blocks: Float64Array): number {
  let [sum, weights] = [0, 0];
  for (let k = 0; k < blocks.length; k += SUMS) {
    const at = (i: number): number => blocks[k + i] as number;
    const shift = solveSymmetric([at(XX), at(XY), at(XY), at(YY)], [at(GX), at(GY)]);
    if (!shift) continue;
    const weight = at(XX) + at(YY);
    sum += weight * ((shift[0] as number) ** 2 + (shift[1] as number) ** 2);
    weights += weight;
  }
  return weights > 0 ? Math.sqrt(sum / weights) : 0;
}
