import type { Plane } from "../image/boxFilter.ts";
import { type Linear, linearOf, type Similarity } from "./similarity.ts";

/** Blocks per side over which agreement between two frames is measured. */
export const BLOCKS = 8;

/** Pixels of one level of a frame's pattern. Positions are relative to the centre, in pixels of the level being solved, not of this one. */
export interface Points {
  /** Pixels of the level being solved per pixel of this one. */
  readonly factor: number;
  readonly count: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Index of the point's block, of BLOCKS². */
  readonly block: Uint8Array;
  readonly value: Float32Array;
  readonly slopeX: Float32Array;
  readonly slopeY: Float32Array;
}

/** Pixels of a level on a grid; all of them if there are at most `most`. */
export function pointsOf({ width, height, values }: Plane, { most, factor }: { most: number; factor: number }): Points {
  const stride = Math.max(1, Math.sqrt((width * height) / most));
  const [columns, rows] = [Math.max(0, Math.floor((width - 2) / stride)), Math.max(0, Math.floor((height - 2) / stride))];
  const array = (): Float32Array => new Float32Array(columns * rows);
  const points = { x: array(), y: array(), value: array(), slopeX: array(), slopeY: array(), block: new Uint8Array(columns * rows) };
  let i = 0;
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++, i++) {
      const [column, row] = [1 + Math.floor(c * stride), 1 + Math.floor(r * stride)];
      const at = row * width + column;
      points.x[i] = factor * (column - (width - 1) / 2);
      points.y[i] = factor * (row - (height - 1) / 2);
      points.block[i] = Math.floor((row * BLOCKS) / height) * BLOCKS + Math.floor((column * BLOCKS) / width);
      points.value[i] = values[at] as number;
      points.slopeX[i] = ((values[at + 1] as number) - (values[at - 1] as number)) / (2 * factor);
      points.slopeY[i] = ((values[at + width] as number) - (values[at - width] as number)) / (2 * factor);
    }
  return { factor, count: i, ...points };
}

/** The agreement of one level of two frames under a transform. */
export interface Agreement {
  /** second(W(p)) - first(p); NaN where W(p) lies outside. */
  readonly difference: Float32Array;
  /** Correlation of the two patterns in each block. */
  readonly coherence: Float64Array;
  readonly correlation: number;
  readonly overlap: number;
}

export function compare(points: Points, second: Plane, transform: Similarity): Agreement {
  const { factor, count, x, y, value, block } = points;
  const { width, height, values } = second;
  const t: Linear = linearOf(transform);
  const [centreX, centreY] = [(width - 1) / 2 + t.x / factor, (height - 1) / 2 + t.y / factor];
  const [a, b] = [t.a / factor, t.b / factor];
  const difference = new Float32Array(count);
  const [product, own, other] = [new Float64Array(BLOCKS ** 2), new Float64Array(BLOCKS ** 2), new Float64Array(BLOCKS ** 2)];
  let inside = 0;
  for (let i = 0; i < count; i++) {
    const px = x[i] as number;
    const py = y[i] as number;
    const u = a * px - b * py + centreX;
    const v = b * px + a * py + centreY;
    const column = Math.floor(u);
    const row = Math.floor(v);
    if (!(column >= 0 && row >= 0 && column < width - 1 && row < height - 1)) {
      difference[i] = NaN;
      continue;
    }
    const at = row * width + column;
    const right = u - column;
    const top = (values[at] as number) * (1 - right) + (values[at + 1] as number) * right;
    const bottom = (values[at + width] as number) * (1 - right) + (values[at + width + 1] as number) * right;
    const sample = top + (bottom - top) * (v - row);
    const mine = value[i] as number;
    const k = block[i] as number;
    difference[i] = sample - mine;
    inside++;
    product[k] = (product[k] as number) + sample * mine;
    own[k] = (own[k] as number) + mine * mine;
    other[k] = (other[k] as number) + sample * sample;
  }
  const ratio = (p: number, q: number, r: number): number => p / Math.sqrt(q * r + 1e-30);
  return {
    difference,
    coherence: product.map((sum, k) => ratio(sum, own[k] as number, other[k] as number)),
    correlation: ratio(total(product), total(own), total(other)),
    overlap: inside / count,
  };
}

const total = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);
