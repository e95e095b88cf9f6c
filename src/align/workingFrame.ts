import type { Image, Size } from "../image/image.ts";
import { smallLuminance } from "../image/luminance.ts";
import { workspace } from "../image/simd/workspace.ts";
import { decodeSrgb } from "../image/srgb.ts";
import { type Features, features } from "./features.ts";

/** What alignment needs of an image: small enough that a hundred fit in memory when the images themselves do not. */
export interface WorkingFrame {
  /** Size of the full image. */
  readonly size: Size;
  /** Full-size pixels per working pixel. */
  readonly factor: number;
  readonly features: Features;
  /** Linear light on a coarse grid, for the exposure. */
  readonly light: LightGrid;
}

export interface LightGrid {
  /** Side of a cell in full-size pixels. */
  readonly cell: number;
  readonly columns: number;
  readonly rows: number;
  readonly channels: 1 | 3;
  /** Mean linear light per cell and channel; NaN where a pixel of the cell is clipped. */
  readonly values: Float32Array;
}

/** Pixels of the finest level. More would cost time and add little: accuracy comes from many points, not from fine detail. */
const WORKING_PIXELS = 1 << 20;

/** Cells across the larger side of the light grid. */
const GRID = 192;

/** Stored values above this may be clipped: light is then no longer proportional to exposure. */
export const CLIPPED = 0.98;

export function workingFrame(image: Image, { pixels = WORKING_PIXELS }: { pixels?: number } = {}): WorkingFrame {
  const factor = reduction(image, pixels);
  return {
    size: { width: image.width, height: image.height },
    factor,
    features: features(smallLuminance(image, factor)),
    light: lightGrid(image),
  };
}

/** The whole number of full-size pixels per working pixel that leaves at most about `pixels`. */
export const reduction = ({ width, height }: Size, pixels: number): number => Math.max(1, Math.ceil(Math.sqrt((width * height) / pixels)));

/** Steps of the table. */
const TABLE = 4096;

/** `decodeSrgb` as a table: a power for every sample would take longer than reading the image. */
const LIGHT = Float64Array.from({ length: TABLE + 2 }, (_, i) => decodeSrgb(i / TABLE));

function lightGrid({ width, height, channels, data }: Image): LightGrid {
  const cell = Math.min(width, height, Math.max(1, Math.ceil(Math.max(width, height) / GRID)));
  const [columns, rows] = [Math.floor(width / cell), Math.floor(height / cell)];
  const [left, top] = [(width - columns * cell) >> 1, (height - rows * cell) >> 1];
  const values = new Float32Array(columns * rows * channels);
  const step = Math.max(1, cell >> 2); // a sample of the pixels is enough for the mean
  const { kernels, take, put, heap, scoped } = workspace();
  scoped(() => {
    const table = put(LIGHT);
    const [lines, out] = [take(cell * width * channels), take(columns * channels)];
    const room = heap();
    for (let row = 0; row < rows; row++) {
      const from = (top + row * cell) * width * channels;
      room.set(data.subarray(from, from + cell * width * channels), lines / 4);
      kernels.cellLight(out, lines + 4 * left * channels, width, channels, columns, cell, step, table, TABLE, CLIPPED);
      values.set(room.subarray(out / 4, out / 4 + columns * channels), row * columns * channels);
    }
  });
  return { cell, columns, rows, channels, values };
}
