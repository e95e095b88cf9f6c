import { type Agreement, BLOCKS, type Points } from "./points.ts";
import type { Size } from "../image/image.ts";
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
  const blocks = new Float64Array(BLOCKS ** 2 * SUMS);
  for (const level of levels) accumulate(level, { radius, blocks });
  const sums = new Float64Array(SUMS);
  for (let i = 0; i < blocks.length; i++) sums[i % SUMS] = (sums[i % SUMS] as number) + (blocks[i] as number);
  const [aa, ab, ax, ay, bb, bx, by, xx, xy, yy, ga, gb, gx, gy] = sums as unknown as number[] as Sums;
  const matrix = [aa, ab, ax, ay, ab, bb, bx, by, ax, bx, xx, xy, ay, by, xy, yy];
  const solved = solveSymmetric(matrix, [ga, gb, gx, gy]);
  if (!solved) return undefined;
  const [da, db, dx, dy] = solved as unknown as [number, number, number, number];
  const error = Math.sqrt(REPETITION * meanVariance(matrix, meanSquaredRadius(size) / radius ** 2));
  return { small: { a: 1 + da / radius, b: db / radius, x: dx, y: dy }, error, residual: blockMotion(blocks) };
}

/** Per block: the ten products of the derivatives by (a, b, x, y), and the four products with the difference. */
const SUMS = 14;
type Sums = [number, number, number, number, number, number, number, number, number, number, number, number, number, number];

function accumulate({ points, difference, coherence }: Compared, { radius, blocks }: { radius: number; blocks: Float64Array }): void {
  const { count, x, y, slopeX, slopeY, block } = points;
  const narrow = 1 / (2.385 * spreadOf(difference) + 1e-9); // 95 % efficient if the differences are normal
  const rho = coherence.map((value) => Math.min(Math.max(value, COHERENCE[0]), COHERENCE[1]));
  for (let i = 0; i < count; i++) {
    const r = difference[i] as number;
    if (Number.isNaN(r)) continue;
    const k = block[i] as number;
    const share = rho[k] as number;
    const weight = share / (1 - share ** 2) / (1 + (r * narrow) ** 2);
    const sx = slopeX[i] as number;
    const sy = slopeY[i] as number;
    const a = (sx * (x[i] as number) + sy * (y[i] as number)) / radius;
    const b = (sy * (x[i] as number) - sx * (y[i] as number)) / radius;
    const at = k * SUMS;
    const h = weight * share;
    const g = weight * r;
    blocks[at] = (blocks[at] as number) + h * a * a;
    blocks[at + 1] = (blocks[at + 1] as number) + h * a * b;
    blocks[at + 2] = (blocks[at + 2] as number) + h * a * sx;
    blocks[at + 3] = (blocks[at + 3] as number) + h * a * sy;
    blocks[at + 4] = (blocks[at + 4] as number) + h * b * b;
    blocks[at + 5] = (blocks[at + 5] as number) + h * b * sx;
    blocks[at + 6] = (blocks[at + 6] as number) + h * b * sy;
    blocks[at + 7] = (blocks[at + 7] as number) + h * sx * sx;
    blocks[at + 8] = (blocks[at + 8] as number) + h * sx * sy;
    blocks[at + 9] = (blocks[at + 9] as number) + h * sy * sy;
    blocks[at + 10] = (blocks[at + 10] as number) + g * a;
    blocks[at + 11] = (blocks[at + 11] as number) + g * b;
    blocks[at + 12] = (blocks[at + 12] as number) + g * sx;
    blocks[at + 13] = (blocks[at + 13] as number) + g * sy;
  }
}

/** The standard deviation of the differences, from the median of some thousands of their magnitudes. */
function spreadOf(difference: Float32Array): number {
  const stride = Math.max(1, Math.floor(difference.length / 4000));
  const sizes = new Float32Array(Math.ceil(difference.length / stride));
  let known = 0;
  for (let i = 0; i < difference.length; i += stride) if (!Number.isNaN(difference[i])) sizes[known++] = Math.abs(difference[i] as number);
  const sorted = sizes.subarray(0, known).sort();
  return sorted.length === 0 ? 0 : 1.4826 * (sorted[sorted.length >> 1] as number);
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
    const [xx, xy, yy, , , gx, gy] = blocks.subarray(k + 7) as unknown as [number, number, number, number, number, number, number];
    const shift = solveSymmetric([xx, xy, xy, yy], [gx, gy]);
    if (!shift) continue;
    sum += (xx + yy) * ((shift[0] as number) ** 2 + (shift[1] as number) ** 2);
    weights += xx + yy;
  }
  return weights > 0 ? Math.sqrt(sum / weights) : 0;
}
