import { image, type Image, type Size } from "../image/image.ts";
import { convertIndexedToRgb, decode, type DecodedPng } from "fast-png";
import { decoding, FormatError } from "./formatError.ts";
import { writePng, writePngWith, type Deflate } from "./pngWriter.ts";

/** The integers of a PNG as stored: grey, grey + alpha, RGB or RGBA, interleaved, 8 or 16 bits each. */
export interface PngPixels extends Size {
  readonly channels: 1 | 2 | 3 | 4;
  readonly data: Uint8Array | Uint16Array;
  /** The `tEXt` chunks. */
  readonly text: Readonly<Record<string, string>>;
  /** The `eXIf` chunk, when written. */
  readonly exif?: Uint8Array | undefined;
  /** The ICC profile, when written. */
  readonly profile?: Uint8Array | undefined;
}

/** The stored integers, for 16-bit depth and the like. Palettes become RGB; 1, 2 and 4 bits are spread to 8. */
export function decodePngPixels(bytes: Uint8Array, file = "PNG data"): PngPixels {
  const png = decoding({ file, format: "PNG" }, () => {
    checkPngSizes(bytes);
    const decoded = decode(bytes, { checkCrc: true });
    return decoded.palette ? withoutPalette(decoded) : decoded.depth < 8 ? spreadBits(decoded) : decoded;
  });
  const { width, height, channels, text } = png;
  if (png.data.length !== width * height * channels || png.data.length === 0)
    throw new FormatError(`${file}: the PNG says ${width}×${height}×${channels} but holds ${png.data.length} values`);
  const data = png.data instanceof Uint16Array ? png.data : new Uint8Array(png.data);
  return { width, height, channels: channels as PngPixels["channels"], data, text };
}

const MAX_DEFLATE = 1033;

/** Refuses chunks that the file does not have, and pixels that its data cannot unpack to: the decoder makes room for them first. */
function checkPngSizes(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [header, packed] = [0, 0];
  for (let at = 8, type = 0; type !== IEND && at < bytes.length;) {
    if (at + 12 > bytes.length) throw new RangeError(`it is truncated at ${bytes.length} bytes`);
    const length = view.getUint32(at);
    type = view.getUint32(at + 4);
    if (length > bytes.length - at - 12) throw new RangeError(`a chunk at ${at} claims ${length} bytes, the file has ${bytes.length}`);
    if (type === IHDR && length === 13) header = at + 8;
    if (type === IDAT) packed += length;
    at += 12 + length;
  }
  if (header === 0) throw new RangeError("it has no header");
  const [width, height] = [view.getUint32(header), view.getUint32(header + 4)];
  const bits = view.getUint8(header + 8) * ({ 2: 3, 4: 2, 6: 4 }[view.getUint8(header + 9)] ?? 1);
  if (Math.ceil((width * bits) / 8) * height > MAX_DEFLATE * packed)
    throw new RangeError(`${width}×${height} pixels of ${bits} bits do not fit into ${packed} bytes`);
}

const [IHDR, IDAT, IEND] = [0x49484452, 0x49444154, 0x49454e44];

/** Values in [0, 1]; alpha is dropped. */
export function decodePng(bytes: Uint8Array, file = "PNG data"): Image {
  return pixelsToImage(decodePngPixels(bytes, file));
}

export function pixelsToImage({ width, height, channels, data }: Omit<PngPixels, "text">): Image {
  const kept = channels < 3 ? 1 : 3;
  const scale = 1 / (data instanceof Uint16Array ? 65535 : 255);
  const values = new Float32Array(width * height * kept);
  for (let pixel = 0; pixel < width * height; pixel++)
    for (let c = 0; c < kept; c++) values[pixel * kept + c] = (data[pixel * channels + c] as number) * scale;
  return image({ width, height, channels: kept, data: values });
}

export interface PngOptions {
  readonly depth?: 8 | 16;
  /** Goes into `tEXt` chunks. */
  readonly text?: Readonly<Record<string, string>>;
  /** An EXIF block, as TIFF. */
  readonly exif?: Uint8Array | undefined;
  /** An ICC profile. */
  readonly profile?: Uint8Array | undefined;
}

/** Writes grey or RGB, 8 or 16 bits; values outside [0, 1] are clipped and NaN becomes 0. */
export function encodePng(source: Image, options: PngOptions = {}): Uint8Array {
  return encodePngPixels(pngPixels(source, options));
}

/** The integers that are written for an image. */
export function pngPixels(source: Image, { depth = 8, text = {}, exif, profile }: PngOptions = {}): PngPixels {
  const { width, height, channels, data } = image(source);
  return { width, height, channels, data: integers(data, depth), text, exif, profile };
}

/** Values in [0, 1] as integers of 8 or 16 bits, clipped; NaN becomes 0. */
export function integers(values: Float32Array, depth: 8 | 16): Uint8Array | Uint16Array {
  const top = depth === 8 ? 255 : 65535;
  const out = depth === 8 ? new Uint8Array(values.length) : new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = Math.min(Math.max(values[i] as number, 0), 1) * top + 0.5;
  return out;
}

/** Writes integers as they are; the array type gives the bit depth. */
export const encodePngPixels = (pixels: GivenPixels): Uint8Array => writePng(checkedPixels(pixels));

/** The same with another compressor, which may work in another thread. */
export const compressPngPixels = async (pixels: GivenPixels, deflate: Deflate, content?: "photo"): Promise<Uint8Array> =>
  writePngWith(deflate, checkedPixels(pixels), content);

type GivenPixels = Omit<PngPixels, "text"> & Partial<PngPixels>;

function checkedPixels({ text = {}, ...pixels }: GivenPixels): PngPixels {
  const { width, height, channels, data } = pixels;
  if (data.length !== width * height * channels)
    throw new RangeError(`encodePngPixels: ${width}×${height}×${channels} needs ${width * height * channels} values, got ${data.length}`);
  return { ...pixels, text };
}

function withoutPalette(png: DecodedPng): DecodedPng {
  return { ...png, data: convertIndexedToRgb(png), channels: png.palette?.[0]?.length ?? 3, depth: 8 };
}

/** 1, 2 or 4 bits per grey pixel, packed row by row → one byte each, 0 to 255. */
function spreadBits(png: DecodedPng): DecodedPng {
  const { width, height, depth } = png;
  const rowBytes = Math.ceil((width * depth) / 8);
  if (png.data.length !== rowBytes * height) throw new RangeError(`expected ${rowBytes * height} packed bytes, got ${png.data.length}`);
  const top = 2 ** depth - 1;
  const data = new Uint8Array(width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const byte = png.data[y * rowBytes + ((x * depth) >> 3)] as number;
      data[y * width + x] = (((byte >> (8 - depth - ((x * depth) & 7))) & top) * 255) / top;
    }
  return { ...png, data, depth: 8 };
}
