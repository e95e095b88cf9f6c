import type { Image, StoredImage } from "./image.ts";

/** A range of columns. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * An image that is computed row by row, and of each row only what is needed: the samples of row `y`, valid between the columns `from`
 * and `to` and undefined elsewhere. The next call may overwrite them.
 */
export type PictureRows = (y: number, span: Span) => Float32Array;

/** The rows of an image in memory; integers become values in [0, 1]. */
export function imageRows({ width, channels, data }: Image | StoredImage): PictureRows {
  const samples = width * channels;
  if (data instanceof Float32Array) return (y) => data.subarray(y * samples, (y + 1) * samples);
  const scale = 1 / (data instanceof Uint16Array ? 65535 : 255);
  const row = new Float32Array(samples);
  return (y, { from, to }) => {
    const start = y * samples;
    for (let i = from * channels; i < to * channels; i++) row[i] = (data[start + i] as number) * scale;
    return row;
  };
}
