import type { Image } from "./image.ts";

/** A stretch of a row, in columns. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * A picture that is made row by row, and of each row only what is asked for: the samples of row `y`, right between the columns `from`
 * and `to` and anything elsewhere. The next call may overwrite them.
 */
export type PictureRows = (y: number, span: Span) => Float32Array;

/** The rows of a picture that is there. */
export function imageRows({ width, channels, data }: Image): PictureRows {
  const samples = width * channels;
  return (y) => data.subarray(y * samples, (y + 1) * samples);
}
