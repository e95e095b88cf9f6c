import type { Size } from "./image.ts";

/** Samples of a picture or map, row by row, channels interleaved. */
export interface Samples extends Size {
  readonly channels: number;
  readonly data: Float32Array;
}

export const halfSize = ({ width, height }: Size): Size => ({ width: (width + 1) >> 1, height: (height + 1) >> 1 });

/** Half the size, after the filter (1 4 6 4 1)/16 along both axes (Burt and Adelson 1983); borders are repeated. */
export function reduced({ width, height, channels, data }: Samples): Samples {
  const small = halfSize({ width, height });
  const row = small.width * channels;
  const rows = new Float32Array(5 * row); // the last five rows, halved along x
  const halved = new Int32Array(5).fill(-1);
  const rowAt = (y: number): number => {
    const wanted = Math.min(Math.max(y, 0), height - 1);
    const slot = wanted % 5;
    if (halved[slot] !== wanted) {
      halved[slot] = wanted;
      reduceRow(data, { width, channels, from: wanted * width * channels, to: slot * row }, rows);
    }
    return slot * row;
  };
  const out = new Float32Array(row * small.height);
  for (let y = 0, at = 0; y < small.height; y++) {
    const [a, b, c, d, e] = [rowAt(2 * y - 2), rowAt(2 * y - 1), rowAt(2 * y), rowAt(2 * y + 1), rowAt(2 * y + 2)];
    for (let i = 0; i < row; i++, at++) {
      const outer = (rows[a + i] as number) + (rows[e + i] as number);
      const inner = (rows[b + i] as number) + (rows[d + i] as number);
      out[at] = (outer + 4 * inner + 6 * (rows[c + i] as number)) / 16;
    }
  }
  return { ...small, channels, data: out };
}

interface RowPlace {
  readonly width: number;
  readonly channels: number;
  /** First sample of the row. */
  readonly from: number;
  /** Where its half goes. */
  readonly to: number;
}

function reduceRow(data: Float32Array, { width, channels, from, to }: RowPlace, out: Float32Array): void {
  const half = (width + 1) >> 1;
  const last = width - 1;
  for (let x = 0; x < half; x++) {
    const middle = 2 * x;
    const a = from + Math.max(middle - 2, 0) * channels;
    const b = from + Math.max(middle - 1, 0) * channels;
    const c = from + middle * channels;
    const d = from + Math.min(middle + 1, last) * channels;
    const e = from + Math.min(middle + 2, last) * channels;
    for (let k = 0; k < channels; k++) {
      const outer = (data[a + k] as number) + (data[e + k] as number);
      const inner = (data[b + k] as number) + (data[d + k] as number);
      out[to + x * channels + k] = (outer + 4 * inner + 6 * (data[c + k] as number)) / 16;
    }
  }
}

/** Rows of a map of half the size, brought to `size`; each call overwrites the result of the previous one. Borders are repeated. */
export function expandedRows({ width, height, channels, data }: Samples, size: Size): (y: number) => Float32Array {
  const mixed = new Float32Array(width * channels);
  const out = new Float32Array(size.width * channels);
  const row = width * channels;
  return (y) => {
    const middle = y >> 1;
    const below = Math.min(middle + 1, height - 1) * row;
    const here = middle * row;
    if (y % 2 === 1) for (let i = 0; i < row; i++) mixed[i] = 0.5 * ((data[here + i] as number) + (data[below + i] as number));
    else {
      const above = Math.max(middle - 1, 0) * row;
      for (let i = 0; i < row; i++)
        mixed[i] = 0.75 * (data[here + i] as number) + 0.125 * ((data[above + i] as number) + (data[below + i] as number));
    }
    expandRow(mixed, { width, channels, wanted: size.width }, out);
    return out;
  };
}

function expandRow(
  row: Float32Array,
  { width, channels, wanted }: { readonly width: number; readonly channels: number; readonly wanted: number },
  out: Float32Array,
): void {
  for (let x = 0; x < width; x++) {
    const left = Math.max(x - 1, 0) * channels;
    const here = x * channels;
    const right = Math.min(x + 1, width - 1) * channels;
    const odd = 2 * x + 1 < wanted;
    for (let k = 0; k < channels; k++) {
      const value = row[here + k] as number;
      out[2 * here + k] = 0.75 * value + 0.125 * ((row[left + k] as number) + (row[right + k] as number));
      if (odd) out[2 * here + channels + k] = 0.5 * (value + (row[right + k] as number));
    }
  }
}
