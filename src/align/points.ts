import type { Block } from "../image/pyramid.ts";
import { workspace } from "../image/simd/workspace.ts";
import { linearOf, type Similarity } from "./similarity.ts";

/** Blocks per side over which agreement between two frames is measured; as in native/simd/kernels.ts. */
export const BLOCKS = 8;

/**
 * Pixels of one level of a frame's pattern, on a grid. Positions are relative to the centre, in pixels of the level being solved, not of this
 * one. Everything but the counts is an address in the workspace, valid until the end of the scope.
 */
export interface Points {
  /** Pixels of the level being solved per pixel of this one. */
  readonly factor: number;
  readonly columns: number;
  readonly rows: number;
  /** Index of the pixel of each column and each row. */
  readonly columnAt: number;
  readonly rowAt: number;
  /** Position of each column and each row. */
  readonly x: number;
  readonly y: number;
  /** First column of each block, and their number. */
  readonly bounds: number;
  /** Row of blocks that each row is in. */
  readonly rowBlocks: number;
  readonly value: number;
  readonly slopeX: number;
  readonly slopeY: number;
}

/** Numbers that kernels read or write beyond the last point. */
const BEYOND = 4;

/** Pixels of a level on a grid; all of them if there are at most `most`. */
export function pointsOf({ width, height, address }: Block, { most, factor }: { most: number; factor: number }): Points {
  const { kernels, take, put } = workspace();
  const stride = Math.max(1, Math.sqrt((width * height) / most));
  const [columns, rows] = [Math.max(0, Math.floor((width - 2) / stride)), Math.max(0, Math.floor((height - 2) / stride))];
  const places = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => 1 + Math.floor(i * stride));
  const positions = (at: Uint32Array, side: number): Float32Array => {
    const found = new Float32Array(at.length + BEYOND);
    at.forEach((place, i) => (found[i] = factor * (place - (side - 1) / 2)));
    return found;
  };
  const blockOf = (place: number, side: number): number => Math.floor((place * BLOCKS) / side);
  const [columnAt, rowAt] = [places(columns), places(rows)];
  const bounds = Uint32Array.from({ length: BLOCKS + 1 }, (_, k) => {
    const first = columnAt.findIndex((column) => blockOf(column, width) >= k);
    return first < 0 ? columns : first;
  });
  const [value, slopeX, slopeY] = [0, 1, 2].map(() => take(columns * rows + BEYOND)) as [number, number, number];
  const pixels = { columnAt: put(columnAt), rowAt: put(rowAt) };
  kernels.samplePoints(value, slopeX, slopeY, address, width, pixels.columnAt, columns, pixels.rowAt, rows, 1 / (2 * factor));
  return {
    ...{ factor, columns, rows, value, slopeX, slopeY },
    ...pixels,
    x: put(positions(columnAt, width)),
    y: put(positions(rowAt, height)),
    bounds: put(bounds),
    rowBlocks: put(rowAt.map((row) => blockOf(row, height))),
  };
}

/** Room for one number per point. */
export const roomFor = ({ columns, rows }: Points): number => workspace().take(columns * rows + BEYOND);

/** The agreement of one level of two frames under a transform. */
export interface Agreement {
  /** second(W(p)) - first(p) of each point, at an address; NaN where W(p) lies outside. */
  readonly difference: number;
  /** Correlation of the two patterns in each block. */
  readonly coherence: Float64Array;
  readonly correlation: number;
  readonly overlap: number;
}

/** Of two frames of one size. The differences are written to the room at `difference`. */
export function compare(
  points: Points,
  second: Block,
  { transform, difference }: { transform: Similarity; difference: number },
): Agreement {
  const { factor, columns, rows, x, y, bounds, rowBlocks, columnAt, rowAt, value } = points;
  const { width, height, address } = second;
  const { kernels, put, doubles, scoped } = workspace();
  const t = linearOf(transform);
  const motion = [(t.a - 1) / factor, t.b / factor, t.x / factor, t.y / factor] as const;
  const { inside, sums } = scoped(() => {
    const room = put(new Float32Array(2 * BLOCKS ** 2 * 3));
    const grid = [x, y, bounds, rowBlocks, columns, rows] as const;
    const count = kernels.comparePoints(difference, room, ...grid, columnAt, rowAt, value, address, width, height, ...motion);
    return { inside: count, sums: doubles(room, BLOCKS ** 2 * 3).slice() };
  });
  const ratio = (from: Float64Array): number => (from[0] as number) / Math.sqrt((from[1] as number) * (from[2] as number) + 1e-30);
  const total = new Float64Array(3);
  sums.forEach((sum, i) => (total[i % 3] = (total[i % 3] as number) + sum));
  return {
    difference,
    coherence: Float64Array.from({ length: BLOCKS ** 2 }, (_, k) => ratio(sums.subarray(3 * k, 3 * k + 3))),
    correlation: ratio(total),
    overlap: inside / (columns * rows),
  };
}
