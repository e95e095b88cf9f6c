import type { Image } from "../image/image.ts";
import type { PictureRows } from "../image/rows.ts";
import { workspace } from "../image/simd/workspace.ts";
import { decodeSrgb, encodeSrgb } from "../image/srgb.ts";
import { linearOf, resized, type Similarity } from "./similarity.ts";
import type { LightGrid } from "./workingFrame.ts";

/** Factor on linear light, per channel, that brings a frame to the reference's exposure. */
export type Gain = readonly number[];

/** Cells per side of a group. */
const GROUP = 12;
/** A group counts if this share of its cells can be used in both frames; fewer groups are not enough. */
const USABLE = 0.5;
const LEAST_GROUPS = 6;
/** Linear light below this is mostly noise. */
export const DARK = 0.002;

/**
 * The median, over groups of cells, of reference light over frame light. Blur moves light between neighbouring groups but preserves the
 * total, and the median ignores groups at edges. Undefined if too many cells are clipped or black.
 */
export function exposureGain({ reference, frame }: { reference: LightGrid; frame: LightGrid }, transform: Similarity): Gain | undefined {
  const gains = groupRatios({ reference, frame, transform }).map((ratios) => {
    const sorted = Float64Array.from(ratios).sort();
    return sorted.length < LEAST_GROUPS ? NaN : (sorted[sorted.length >> 1] as number);
  });
  return gains.some(Number.isNaN) ? undefined : gains;
}

interface Exposures {
  readonly reference: LightGrid;
  readonly frame: LightGrid;
  readonly transform: Similarity;
}

/** For each channel the ratios of the groups that can be used. */
function groupRatios({ reference, frame, transform }: Exposures): number[][] {
  const { cell, columns, rows, channels, values } = reference;
  const t = linearOf(resized(transform, 1 / cell));
  const across = Math.ceil(columns / GROUP);
  const count = across * Math.ceil(rows / GROUP) * channels;
  const [here, there, cells] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)] as const;
  const seen = new Float64Array(channels);
  for (let i = 0; i < columns * rows; i++) {
    const row = Math.floor(i / columns);
    const column = i - row * columns;
    const x = column - (columns - 1) / 2;
    const y = row - (rows - 1) / 2;
    sample(frame, t.a * x - t.b * y + t.x + (columns - 1) / 2, t.b * x + t.a * y + t.y + (rows - 1) / 2, seen);
    const group = (Math.floor(row / GROUP) * across + Math.floor(column / GROUP)) * channels;
    for (let c = 0; c < channels; c++) {
      const own = values[i * channels + c] as number;
      const other = seen[c] as number;
      if (Number.isNaN(own + other)) continue;
      here[group + c] = (here[group + c] as number) + own;
      there[group + c] = (there[group + c] as number) + other;
      cells[group + c] = (cells[group + c] as number) + 1;
    }
  }
  const isUsable = (at: number): boolean =>
    (cells[at] as number) >= USABLE * GROUP ** 2 && Math.min(here[at] as number, there[at] as number) > DARK * (cells[at] as number);
  return Array.from({ length: channels }, (_, c) => {
    const ratios = [];
    for (let at = c; at < count; at += channels) if (isUsable(at)) ratios.push((here[at] as number) / (there[at] as number));
    return ratios;
  });
}

/** A whole cell if the place is so close to it. */
const EXACT = 1e-6;

/** Bilinear, every channel; NaN outside the grid or next to an unusable cell. Called for every cell: it makes no arrays. */
function sample({ columns, rows, channels, values }: LightGrid, x: number, y: number, into: Float64Array): void {
  const left = Math.floor(x + EXACT);
  const top = Math.floor(y + EXACT);
  const right = x - left < EXACT ? left : left + 1;
  const bottom = y - top < EXACT ? top : top + 1;
  into.fill(NaN);
  if (left < 0 || top < 0 || right >= columns || bottom >= rows) return;
  for (let c = 0; c < channels; c++) {
    const upper = mix(values, (top * columns + left) * channels + c, (top * columns + right) * channels + c, x - left);
    const lower = mix(values, (bottom * columns + left) * channels + c, (bottom * columns + right) * channels + c, x - left);
    into[c] = bottom === top ? upper : upper * (1 - (y - top)) + lower * (y - top);
  }
}

const mix = (values: Float32Array, one: number, two: number, share: number): number =>
  one === two ? (values[one] as number) : (values[one] as number) * (1 - share) + (values[two] as number) * share;

/** Steps of the table. */
export const TABLE = 4096;

/**
 * Rows with each channel's linear light multiplied by its gain, by a lookup table: computing a power per sample would cost more than the warp.
 * They exist as long as `use` runs.
 */
export function withGainRows<T>(rows: PictureRows, channels: Image["channels"], gain: Gain, use: (rows: PictureRows) => T): T {
  const { kernels, put, scoped } = workspace();
  return scoped(() => {
    const tables = put(gainTables(gain, channels));
    return use((y, span, into) => {
      rows(y, span, into);
      kernels.lookUpRow(into, tables, TABLE, channels, 0, span.to - span.from);
    });
  });
}

/** [channels, TABLE + 2]: the stored value that takes the place of each; the last one is repeated for the interpolation. */
export function gainTables(gain: Gain, channels: number): Float32Array {
  const tables = new Float32Array(channels * (TABLE + 2));
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < TABLE + 2; i++)
      tables[c * (TABLE + 2) + i] = Math.min(1, encodeSrgb((gain[c] as number) * decodeSrgb(Math.min(i / TABLE, 1))));
  return tables;
}
