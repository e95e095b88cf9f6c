import type { Image } from "../image/image.ts";
import { forEachRow, imageRows, type PictureRows } from "../image/rows.ts";
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
const DARK = 0.002;

/**
 * The median, over groups of cells, of reference light over frame light. Blur moves light between neighbouring groups but preserves the
 * total, and the median ignores groups at edges. Undefined if too many cells are clipped or black.
 */
export function exposureGain({ reference, frame }: { reference: LightGrid; frame: LightGrid }, transform: Similarity): Gain | undefined {
  const gains = Array.from({ length: reference.channels }, (_, channel) => {
    const ratios = groupRatios({ reference, frame, transform, channel }).sort((p, q) => p - q);
    return ratios.length < LEAST_GROUPS ? NaN : (ratios[ratios.length >> 1] as number);
  });
  return gains.some(Number.isNaN) ? undefined : gains;
}

interface Exposures {
  readonly reference: LightGrid;
  readonly frame: LightGrid;
  readonly transform: Similarity;
  readonly channel: number;
}

function groupRatios({ reference, frame, transform, channel }: Exposures): number[] {
  const { cell, columns, rows, channels, values } = reference;
  const t = linearOf(resized(transform, 1 / cell));
  const across = Math.ceil(columns / GROUP);
  const groups = Array.from({ length: across * Math.ceil(rows / GROUP) }, () => ({ here: 0, there: 0, cells: 0 }));
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const x = column - (columns - 1) / 2;
      const y = row - (rows - 1) / 2;
      const there = sample(frame, channel, t.a * x - t.b * y + t.x + (columns - 1) / 2, t.b * x + t.a * y + t.y + (rows - 1) / 2);
      const here = values[(row * columns + column) * channels + channel] as number;
      if (Number.isNaN(here + there)) continue;
      const group = groups[Math.floor(row / GROUP) * across + Math.floor(column / GROUP)] as (typeof groups)[number];
      group.here += here;
      group.there += there;
      group.cells++;
    }
  const usable = groups.filter(({ here, there, cells }) => cells >= USABLE * GROUP ** 2 && Math.min(here, there) > DARK * cells);
  return usable.map(({ here, there }) => here / there);
}

/** A whole cell if the place is so close to it. */
const EXACT = 1e-6;

/** Bilinear; NaN outside the grid or next to an unusable cell. Called for every cell: it makes no arrays. */
function sample({ columns, rows, channels, values }: LightGrid, channel: number, x: number, y: number): number {
  const left = Math.floor(x + EXACT);
  const top = Math.floor(y + EXACT);
  const right = x - left < EXACT ? left : left + 1;
  const bottom = y - top < EXACT ? top : top + 1;
  if (left < 0 || top < 0 || right >= columns || bottom >= rows) return NaN;
  const upper = mix(values, (top * columns + left) * channels + channel, (top * columns + right) * channels + channel, x - left);
  if (bottom === top) return upper;
  const lower = mix(values, (bottom * columns + left) * channels + channel, (bottom * columns + right) * channels + channel, x - left);
  return upper * (1 - (y - top)) + lower * (y - top);
}

const mix = (values: Float32Array, one: number, two: number, share: number): number =>
  one === two ? (values[one] as number) : (values[one] as number) * (1 - share) + (values[two] as number) * share;

/** Steps of the table. */
export const TABLE = 4096;

/** The image with each channel's linear light multiplied by its gain. */
export function applyGain(image: Image, gain: Gain): Image {
  const { width, channels } = image;
  const data = new Float32Array(image.data.length);
  workspace().scoped(() => {
    withGainRows(imageRows(image), channels, gain, (rows) => {
      forEachRow(rows, image, (row, y) => {
        data.set(row, y * width * channels);
      });
    });
  });
  return { ...image, data };
}

/**
 * The same row by row, with a lookup table: computing a power per sample would cost more than the warp. The rows exist as long as `use`
 * runs.
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
