import type { Plane } from "../image/boxFilter.ts";
import type { Image, Size } from "../image/image.ts";
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
const CLIPPED = 0.98;

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

/** Luma, averaged over squares of side `factor`; a remainder is cropped equally on both sides, so that the centre stays. */
export function smallLuminance({ width, height, channels, data }: Image, factor: number): Plane {
  const small = { width: Math.floor(width / factor), height: Math.floor(height / factor) };
  const [left, top] = [(width - small.width * factor) >> 1, (height - small.height * factor) >> 1];
  const values = new Float32Array(small.width * small.height);
  for (let y = 0; y < small.height * factor; y++) {
    const out = Math.floor(y / factor) * small.width;
    let at = ((top + y) * width + left) * channels;
    for (let x = 0; x < small.width; x++) {
      let sum = 0;
      for (let k = 0; k < factor; k++, at += channels)
        sum +=
          channels === 1
            ? (data[at] as number)
            : 0.299 * (data[at] as number) + 0.587 * (data[at + 1] as number) + 0.114 * (data[at + 2] as number);
      values[out + x] = (values[out + x] as number) + sum / factor ** 2;
    }
  }
  return { ...small, values };
}

const LIGHT = Float64Array.from({ length: 4098 }, (_, i) => decodeSrgb(i / 4096));

/** `decodeSrgb`, from a table: a power for every sample would take longer than reading the image. */
function lightOf(value: number): number {
  const at = Math.max(value, 0) * 4096;
  const below = Math.floor(at);
  const light = LIGHT[below] as number;
  return light + ((LIGHT[below + 1] as number) - light) * (at - below);
}

function lightGrid({ width, height, channels, data }: Image): LightGrid {
  const cell = Math.min(width, height, Math.max(1, Math.ceil(Math.max(width, height) / GRID)));
  const [columns, rows] = [Math.floor(width / cell), Math.floor(height / cell)];
  const [left, top] = [(width - columns * cell) >> 1, (height - rows * cell) >> 1];
  const values = new Float32Array(columns * rows * channels);
  const step = Math.max(1, cell >> 2); // a sample of the pixels is enough for the mean
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        let count = 0;
        for (let y = 0; y < cell; y += step) {
          const start = ((top + row * cell + y) * width + left + column * cell) * channels + c;
          for (let x = 0; x < cell; x += step) {
            const value = data[start + x * channels] as number;
            sum += value < CLIPPED ? lightOf(value) : NaN;
            count++;
          }
        }
        values[(row * columns + column) * channels + c] = sum / count;
      }
  return { cell, columns, rows, channels, values };
}
