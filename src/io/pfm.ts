import type { Size } from "../image/image.ts";
import { FormatError } from "./formatError.ts";

/** Floats of a PFM file, top row first (the file holds the bottom row first), channels interleaved. */
export interface PfmValues extends Size {
  readonly channels: 1 | 3;
  readonly data: Float32Array;
}

/** Reads `Pf` (grey) and `PF` (colour), either byte order. The magnitude of the scale line is ignored, as usual. */
export function decodePfm(bytes: Uint8Array, file = "PFM data"): PfmValues {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
  const match = /^P([Ff])\s+(\d+)\s+(\d+)\s+([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s/.exec(head);
  if (!match) throw new FormatError(`${file}: not a PFM file (expected "Pf" or "PF", width, height and scale)`);
  const [width, height, scale] = [Number(match[2]), Number(match[3]), Number(match[4])];
  const channels = match[1] === "F" ? 3 : 1;
  const row = width * channels;
  const expected = row * height * 4;
  if (expected === 0 || bytes.length - match[0].length !== expected)
    throw new FormatError(`${file}: ${width}×${height}×${channels} needs ${expected} bytes of data, got ${bytes.length - match[0].length}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset + match[0].length, expected);
  const data = new Float32Array(row * height);
  for (let y = 0; y < height; y++)
    for (let i = 0; i < row; i++) data[(height - 1 - y) * row + i] = view.getFloat32(4 * (y * row + i), scale < 0);
  return { width, height, channels, data };
}
