import { zlibSync } from "fflate";
import type { PngPixels } from "./png.ts";

/** Compresses to the zlib format. `content`: "photo" where bytes seldom repeat, so that a search for repeated parts finds little. */
export type Deflate = (bytes: Uint8Array, content?: "photo") => Promise<Uint8Array>;

/** Runs anywhere; Node has its own zlib instead, which is four times as fast and works in another thread. */
const deflateAnywhere = (bytes: Uint8Array): Uint8Array => zlibSync(bytes, { level: 3 });

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const COLOR_TYPE = { 1: 0, 2: 4, 3: 2, 4: 6 } as const; // grey, grey + alpha, RGB, RGBA
const UP = 2; // the filter: each byte less the one above it

/**
 * The bytes of a PNG file. Every row is stored as its difference from the row above: images and maps take half the space of plain values,
 * and less time to compress.
 */
export function writePng(png: PngPixels): Uint8Array {
  const { profile } = png;
  return assembled(png, { rows: deflateAnywhere(filteredRows(png)), profile: profile && deflateAnywhere(profile) });
}

/** The same, compressed by `deflate`. */
export async function writePngWith(deflate: Deflate, png: PngPixels, content?: "photo"): Promise<Uint8Array> {
  const [rows, profile] = await Promise.all([deflate(filteredRows(png), content), png.profile && deflate(png.profile)]);
  return assembled(png, { rows, profile });
}

interface Compressed {
  readonly rows: Uint8Array;
  readonly profile: Uint8Array | undefined;
}

function assembled({ text, exif, ...pixels }: PngPixels, { rows, profile }: Compressed): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, pixels.width);
  view.setUint32(4, pixels.height);
  header[8] = pixels.data instanceof Uint16Array ? 16 : 8;
  header[9] = COLOR_TYPE[pixels.channels];
  const chunks = [
    chunk("IHDR", header),
    ...(profile ? [chunk("iCCP", joined(latin1("ICC\0\0"), profile))] : []),
    ...Object.entries(text).map(([keyword, value]) => chunk("tEXt", latin1(`${keyword}\0${value}`))),
    ...(exif ? [chunk("eXIf", exif)] : []),
    chunk("IDAT", rows),
    chunk("IEND", new Uint8Array(0)),
  ];
  const file = new Uint8Array(SIGNATURE.length + chunks.reduce((sum, { length }) => sum + length, 0));
  file.set(SIGNATURE);
  let at = SIGNATURE.length;
  for (const bytes of chunks) {
    file.set(bytes, at);
    at += bytes.length;
  }
  return file;
}

/** Each row: the filter type, then its bytes; 16-bit samples have the high byte first. */
function filteredRows({ width, height, channels, data }: Omit<PngPixels, "text" | "exif" | "profile">): Uint8Array {
  const samples = width * channels;
  const isDeep = data instanceof Uint16Array;
  const row = 1 + samples * (isDeep ? 2 : 1);
  const out = new Uint8Array(height * row);
  const none = isDeep ? new Uint16Array(samples) : new Uint8Array(samples);
  for (let y = 0; y < height; y++) {
    const above = y === 0 ? none : data.subarray((y - 1) * samples, y * samples);
    const into = out.subarray(y * row + 1, (y + 1) * row);
    out[y * row] = UP;
    const here = data.subarray(y * samples, (y + 1) * samples);
    if (isDeep) differencesOfShorts(into, here, above);
    else for (let i = 0; i < samples; i++) into[i] = (here[i] as number) - (above[i] as number);
  }
  return out;
}

function differencesOfShorts(into: Uint8Array, here: ArrayLike<number>, above: ArrayLike<number>): void {
  for (let i = 0; i < here.length; i++) {
    const value = here[i] as number;
    const over = above[i] as number;
    into[2 * i] = (value >> 8) - (over >> 8);
    into[2 * i + 1] = (value & 255) - (over & 255);
  }
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + content.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  bytes.set(latin1(type), 4);
  bytes.set(content, 8);
  view.setUint32(8 + content.length, checksum(bytes.subarray(4, 8 + content.length)));
  return bytes;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => {
    const code = letter.charCodeAt(0);
    if (code > 255 || letter.length > 1) throw new RangeError(`PNG text must be Latin-1, got ${letter}`);
    return code;
  });
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** CRC-32 as in PNG. */
function checksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) crc = (CRC_TABLE[(crc ^ (bytes[i] as number)) & 255] as number) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
