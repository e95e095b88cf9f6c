import type { Image } from "../image/image.ts";
import { forEachRow, imageRows, type PictureRows } from "../image/rows.ts";
import { workspace } from "../image/simd/workspace.ts";
import { decodeSrgb, encodeSrgb } from "../image/srgb.ts";
import { applyToPoint, resized, type Similarity } from "./similarity.ts";
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
  const inCells = resized(transform, 1 / cell);
  const across = Math.ceil(columns / GROUP);
  const groups = Array.from({ length: across * Math.ceil(rows / GROUP) }, () => ({ here: 0, there: 0, cells: 0 }));
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const [x, y] = applyToPoint(inCells, [column - (columns - 1) / 2, row - (rows - 1) / 2]);
      const there = sample(frame, { x: x + (columns - 1) / 2, y: y + (rows - 1) / 2, channel });
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

/** Bilinear; NaN outside the grid or next to an unusable cell. */
function sample({ columns, rows, channels, values }: LightGrid, { x, y, channel }: { x: number; y: number; channel: number }): number {
  const [left, top] = [Math.floor(x + 1e-6), Math.floor(y + 1e-6)];
  const [fx, fy] = [Math.max(x - left, 0), Math.max(y - top, 0)];
  const at = (column: number, row: number): number =>
    column < 0 || row < 0 || column >= columns || row >= rows ? NaN : (values[(row * columns + column) * channels + channel] as number);
  const mix = (one: number, two: number, share: number): number => (share < 1e-6 ? one : one * (1 - share) + two * share);
  return mix(mix(at(left, top), at(left + 1, top), fx), mix(at(left, top + 1), at(left + 1, top + 1), fx), fy);
}

const TABLE = 4096;

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
function gainTables(gain: Gain, channels: number): Float32Array {
  const tables = new Float32Array(channels * (TABLE + 2));
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < TABLE + 2; i++)
      tables[c * (TABLE + 2) + i] = Math.min(1, encodeSrgb((gain[c] as number) * decodeSrgb(Math.min(i / TABLE, 1))));
  return tables;
}
