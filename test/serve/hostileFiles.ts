import { deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";
import { dngFile } from "../io/dngFile.ts";
import { quadrants } from "../io/heifFiles.ts";
import { crc32 } from "../io/crc32.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const solid = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 3, background: { r: 90, g: 120, b: 40 } } });

export const picture = async (width: number, height: number): Promise<Bytes> => new Uint8Array(await solid(width, height).png().toBuffer());

/** A small PNG whose header claims another size; the checksum of the header is right. */
export async function pngClaiming(width: number, height: number): Promise<Bytes> {
  const bytes = Buffer.from(await picture(64, 48));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  return new Uint8Array(bytes);
}

/** A small JPEG whose frame header claims another size. */
export async function jpegClaiming(width: number, height: number): Promise<Bytes> {
  const bytes = await solid(64, 48).jpeg().toBuffer();
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return new Uint8Array(bytes);
}

/** A small lossless WebP whose header claims another size, at most 16384. */
export async function webpClaiming(width: number, height: number): Promise<Bytes> {
  const bytes = await solid(64, 48).webp({ lossless: true }).toBuffer();
  const header = bytes.indexOf("VP8L") + 9;
  bytes.writeUInt32LE((((width - 1) | ((height - 1) << 14)) >>> 0) | 0, header);
  return new Uint8Array(bytes);
}

/** A small HEIC whose items claim another size. */
export function heicClaiming(width: number, height: number): Bytes {
  const bytes = Buffer.from(quadrants());
  for (let at = bytes.indexOf("ispe"); at >= 0; at = bytes.indexOf("ispe", at + 1)) {
    bytes.writeUInt32BE(width, at + 8);
    bytes.writeUInt32BE(height, at + 12);
  }
  return new Uint8Array(bytes);
}

/** A small DNG whose directory claims another size. */
export function dngClaiming(width: number, height: number): Bytes {
  const bytes = Buffer.from(dngFile({ width: 16, height: 16, channels: 1, data: new Float32Array(256) }));
  bytes.writeUInt32LE(width, 8 + 2 + 12 + 8); // the second and third of its fields
  bytes.writeUInt32LE(height, 8 + 2 + 24 + 8);
  return new Uint8Array(bytes);
}

/** The header of a bitmap of this size, and nothing after it. */
export function bmpClaiming(width: number, height: number): Bytes {
  const bytes = Buffer.alloc(60);
  bytes.write("BM");
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(24, 28);
  return new Uint8Array(bytes);
}

interface Page {
  readonly width?: number;
  readonly height?: number;
  readonly compression?: number;
  readonly strip?: Uint8Array;
  /** Bytes the strip claims to have, if not those it has. */
  readonly claimed?: number;
}

interface Links {
  /** Where the last page says the next one is. */
  readonly last?: number;
}

/** A little-endian TIFF of grey pages, as right or wrong as asked. Every page has nine tags and is followed by its strip. */
export function tiff(pages: readonly Page[], { last = 0 }: Links = {}): Bytes {
  const parts: Buffer[] = [Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0])];
  let at = 8;
  for (const [n, { width = 64, height = 48, compression = 1, strip = new Uint8Array(width * height), claimed }] of pages.entries()) {
    const tags = [
      [256, width],
      [257, height],
      [258, 8],
      [259, compression],
      [262, 1],
      [273, at + 2 + 12 * 9 + 4],
      [277, 1],
      [278, height],
      [279, claimed ?? strip.length],
    ] as const;
    const directory = Buffer.alloc(2 + 12 * tags.length + 4);
    directory.writeUInt16LE(tags.length, 0);
    for (const [i, [tag, value]] of tags.entries()) {
      directory.writeUInt16LE(tag, 2 + 12 * i);
      directory.writeUInt16LE(4, 4 + 12 * i); // LONG
      directory.writeUInt32LE(1, 6 + 12 * i);
      directory.writeUInt32LE(value, 10 + 12 * i);
    }
    at += directory.length + strip.length;
    directory.writeUInt32LE(n + 1 < pages.length ? at : last, directory.length - 4);
    parts.push(directory, Buffer.from(strip));
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** Zeros that take little room until they are unpacked. */
export const deflatedZeros = (length: number): Uint8Array => deflateSync(new Uint8Array(length));

/** The same in TIFF's LZW: code n + 1 stands for one zero more than code n, until the table is full and begins anew. */
export function lzwZeros(tables: number): Uint8Array {
  const bits: number[] = [];
  const write = (code: number, width: number): void => {
    for (let bit = width - 1; bit >= 0; bit--) bits.push((code >> bit) & 1);
  };
  let width = 9;
  write(256, width);
  for (let table = 0; table < tables; table++) {
    width = 9;
    write(0, width);
    for (let next = 258; next < 4094; next++) {
      write(next, width);
      if (next + 2 >= 1 << width && width < 12) width += 1;
    }
    write(256, width);
  }
  write(257, 9);
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  for (const [i, bit] of bits.entries()) bytes[i >> 3] = (bytes[i >> 3] as number) | (bit << (7 - (i & 7)));
  return bytes;
}

export interface Part {
  readonly headers: string;
  readonly body: Uint8Array | string;
}

export const BOUNDARY = "----------------------------hostile";

/** The pieces of a multipart body; `close` false leaves out its end. */
export function multipart(parts: readonly Part[], { close = true } = {}): Buffer {
  const pieces = parts.flatMap(({ headers, body }) => [`--${BOUNDARY}\r\n${headers}\r\n\r\n`, body, "\r\n"]);
  return Buffer.concat([...pieces, close ? `--${BOUNDARY}--\r\n` : ""].map((piece) => Buffer.from(piece)));
}

export const frame = (body: Uint8Array | string, name = "a.png"): Part => ({
  headers: `Content-Disposition: form-data; name="frames"; filename="${name}"\r\nContent-Type: image/png`,
  body,
});

export const optionsPart = (options: unknown): Part => ({
  headers: 'Content-Disposition: form-data; name="options"',
  body: typeof options === "string" ? options : JSON.stringify(options),
});
