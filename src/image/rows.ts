import type { Image } from "./image.ts";

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

/** The rows of an image in memory. */
export function imageRows({ width, channels, data }: Image): PictureRows {
  const samples = width * channels;
  return (y) => data.subarray(y * samples, (y + 1) * samples);
}
