import type { Size } from "../image/image.ts";
import { decoding, FormatError } from "./formatError.ts";

/** RGB, 8 bits each, top row first. */
export interface BmpPixels extends Size {
  readonly channels: 3;
  readonly data: Uint8Array;
}

export const isBmp = (head: Uint8Array): boolean => head[0] === 0x42 && head[1] === 0x4d && head.length >= 26;

/** From the header of a Windows bitmap. */
export function bmpHeader(head: Uint8Array, file = "BMP data"): Size & { readonly channels: 3; readonly depth: "8" } {
  const { width, height } = decoding({ file, format: "BMP" }, () => readHeader(head));
  return { width, height, channels: 3, depth: "8" };
}

/** Windows bitmaps without compression: a palette of up to 8 bits, 24 or 32 bits. */
export function decodeBmp(bytes: Uint8Array, file = "BMP data"): BmpPixels {
  return decoding({ file, format: "BMP" }, () => {
    const { width, height, isTopDown, bits, compression, start, palette } = readHeader(bytes);
    const isPlain = compression === 0 || (compression === 3 && bits === 32 && hasUsualMasks(bytes));
    if (!isPlain || ![1, 4, 8, 24, 32].includes(bits))
      throw new FormatError(`${file}: a bitmap with ${bits} bits and compression ${compression} cannot be read; save it as PNG`);
    const stride = Math.ceil((width * bits) / 32) * 4;
    if (start + stride * height > bytes.length)
      throw new RangeError(`it is truncated: its pixels need ${start + stride * height} bytes, the file has ${bytes.length}`);
    const data = new Uint8Array(3 * width * height);
    for (let y = 0; y < height; y++) {
      const row = start + stride * (isTopDown ? y : height - 1 - y);
      for (let x = 0; x < width; x++) {
        const byte = row + ((x * bits) >> 3);
        const index = (): number => ((bytes[byte] as number) >> (8 - bits - ((x * bits) & 7))) & ((1 << bits) - 1);
        const from = bits <= 8 ? palette + 4 * index() : byte; // blue, green, red
        for (let c = 0; c < 3; c++) data[3 * (y * width + x) + c] = bytes[from + 2 - c] as number;
      }
    }
    return { width, height, channels: 3, data };
  });
}

/** Whether the masks after the header say blue, green, red, as without masks. */
function hasUsualMasks(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return [0xff0000, 0xff00, 0xff].every((mask, i) => view.getUint32(54 + 4 * i, true) === mask);
}

interface Header extends Size {
  readonly isTopDown: boolean;
  readonly bits: number;
  readonly compression: number;
  /** Of the pixels. */
  readonly start: number;
  readonly palette: number;
}

function readHeader(bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const size = view.getUint32(14, true);
  if (size < 40) throw new RangeError("its header is older than Windows 3");
  const [width, height] = [view.getInt32(18, true), view.getInt32(22, true)];
  if (width <= 0 || height === 0) throw new RangeError(`it is ${width}×${height} pixels`);
  return {
    width,
    height: Math.abs(height),
    isTopDown: height < 0,
    bits: view.getUint16(28, true),
    compression: view.getUint32(30, true),
    start: view.getUint32(10, true),
    palette: 14 + size,
  };
}
