import type { Image, StoredImage } from "./image.ts";
import { alignedWith, WORD, workspace } from "./simd/workspace.ts";

/** A range of columns. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * An image that is computed row by row, and of each row only what is needed: writes the samples of row `y` between the columns `from` and
 * `to` to the address `into` of the workspace. Up to `OVERRUN` more samples may be overwritten after them, so rows that follow one another
 * in memory are asked for from top to bottom.
 */
export type PictureRows = (y: number, span: Span, into: number) => void;

/** Samples that a kernel may write beyond the end of a row. */
export const OVERRUN = 4;

/** The rows of an image in memory; integers become values in [0, 1]. Inside a scope of the workspace. */
export function imageRows({ width, channels, data }: Image | StoredImage): PictureRows {
  const { kernels, take, view, bytes } = workspace();
  const samples = width * channels;
  const partOf = <T extends Float32Array | Uint8Array | Uint16Array>(values: T, y: number, { from, to }: Span): T =>
    values.subarray(y * samples + from * channels, y * samples + to * channels) as T;
  if (data instanceof Float32Array)
    return (y, span, into) => {
      const row = partOf(data, y, span);
      view(into, row.length).set(row);
    };
  const isDeep = data instanceof Uint16Array;
  const room = take(Math.ceil((samples * data.BYTES_PER_ELEMENT) / 4) + WORD);
  return (y, span, into) => {
    const row = partOf(data, y, span);
    const stored = alignedWith(row, room);
    bytes(stored, row.byteLength).set(isDeep ? new Uint8Array(row.buffer, row.byteOffset, row.byteLength) : row);
    if (isDeep) kernels.scaleShorts(into, stored, row.length);
    else kernels.scaleBytes(into, stored, row.length);
  };
}

/** Calls `use` with each row of the image in turn, as long as they exist: until the next one. */
export function forEachRow(
  rows: PictureRows,
  { width, height, channels }: Pick<Image, "width" | "height" | "channels">,
  use: (row: Float32Array, y: number) => void,
): void {
  const { take, view, scoped } = workspace();
  scoped(() => {
    const row = take(width * channels + OVERRUN);
    for (let y = 0; y < height; y++) {
      rows(y, { from: 0, to: width }, row);
      use(view(row, width * channels), y);
    }
  });
}
