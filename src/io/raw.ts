import type { Size } from "../image/image.ts";
import { directory, find, integers, tiffAt, uint32, type Tiff } from "./exif.ts";
import { boxesOf, brandsOf } from "./heif.ts";
import { imageHeader } from "./imageHeader.ts";

/** How the raw files of cameras are called. */
export const RAW_NAME = /\.(dng|nef|nrw|cr[23]|arw|raf|orf|rw2|pef|srw)$/i;

const TAG = { width: 256, height: 257, photometric: 262, subDirectories: 330, dngVersion: 50706 } as const;
const COLOUR_FILTER_ARRAY = 32803;
const LINEAR_RAW = 34892;

const markOf = (head: Uint8Array): string => String.fromCharCode(...head.subarray(0, 15));

/** Fujifilm's RAF. */
export const isFuji = (head: Uint8Array): boolean => markOf(head) === "FUJIFILMCCD-RAW";

/** Canon's CR3, laid out as a movie. */
export const isCanonMovie = (head: Uint8Array): boolean => brandsOf(head).includes("crx ");

/** Whether a file that begins with these bytes holds what a camera's sensor saw, before it became an image. */
export function isRaw(head: Uint8Array): boolean {
  if (isFuji(head) || isCanonMovie(head)) return true;
  const mark = markOf(head);
  const tiff = tiffAt(head, 0);
  if (!tiff) return false;
  if (!mark.startsWith("II*\0") && !mark.startsWith("MM\0*")) return true; // Olympus, Panasonic
  if (mark.slice(8, 10) === "CR") return true; // Canon's CR2
  const [main, ...others] = directories(tiff);
  return [main, ...others].some((fields) => {
    const [photometric] = integers(tiff, fields?.get(TAG.photometric));
    return fields?.has(TAG.dngVersion) === true || photometric === COLOUR_FILTER_ARRAY || photometric === LINEAR_RAW;
  });
}

/** The largest size that a raw file states anywhere, for its sensor or its preview: an upper bound, before a decoder sees it. */
export function largestRawSize(bytes: Uint8Array): Size | undefined {
  const tiff = tiffAt(bytes, 0);
  const stated = tiff ? tiffSizes(tiff) : isFuji(bytes) ? fujiSizes(bytes) : canonSizes(bytes);
  const preview = embeddedJpeg(bytes)?.size;
  const largest = [...stated, ...(preview ? [preview] : [])].reduce((a, b) => (a.width * a.height >= b.width * b.height ? a : b), {
    width: 0,
    height: 0,
  });
  return largest.width * largest.height > 0 ? largest : undefined;
}

const tiffSizes = (tiff: Tiff): Size[] =>
  directories(tiff).map((fields) => ({
    width: integers(tiff, fields.get(TAG.width))[0] ?? 0,
    height: integers(tiff, fields.get(TAG.height))[0] ?? 0,
  }));

const FUJI = { directoryAt: 92, mostRecords: 255, sizes: [0x100, 0x111, 0x121] } as const;

/** RAF: a list of records (tag, length, value), big-endian, at an offset that the head states. Three of them are heights and widths. */
function fujiSizes(bytes: Uint8Array): Size[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.byteLength < FUJI.directoryAt + 4) return [];
  let at = view.getUint32(FUJI.directoryAt);
  if (at + 4 > view.byteLength) return [];
  const sizes: Size[] = [];
  let left = Math.min(view.getUint32(at), FUJI.mostRecords);
  for (at += 4; left > 0 && at + 8 <= view.byteLength; left--) {
    const [tag, length] = [view.getUint16(at), view.getUint16(at + 2)];
    if (FUJI.sizes.some((size) => size === tag)) sizes.push({ width: view.getUint16(at + 6), height: view.getUint16(at + 4) });
    at += 4 + length;
  }
  return sizes;
}

/** CR3: each track of the movie states its size, in 16 bits (CRAW) and, where it is compressed, in 32 (CMP1). */
const canonSizes = (bytes: Uint8Array): Size[] =>
  moviesOf(bytes).flatMap((movie) => {
    const view = new DataView(movie.buffer, movie.byteOffset, movie.length);
    const tracks = boxesNamed(movie, "CRAW").filter((at) => at + 28 <= movie.length);
    const compressed = boxesNamed(movie, "CMP1").filter((at) => at + 16 <= movie.length);
    return [
      ...tracks.map((at) => ({ width: view.getUint16(at + 24), height: view.getUint16(at + 26) })),
      ...compressed.map((at) => ({ width: view.getUint32(at + 8), height: view.getUint32(at + 12) })),
    ];
  });

function moviesOf(bytes: Uint8Array): Uint8Array[] {
  try {
    const boxes = boxesOf(bytes, { start: 0, end: bytes.length });
    return boxes.filter(({ type }) => type === "moov").map(({ start, end }) => bytes.subarray(start, end));
  } catch (error) {
    if (error instanceof RangeError) return []; // damaged: what it states cannot be found
    throw error;
  }
}

/** Where the content of boxes of this name begins, however deep they lie. */
function boxesNamed(bytes: Uint8Array, name: string): number[] {
  const found: number[] = [];
  for (let at = find(bytes, name, 0); at >= 0; at = find(bytes, name, at + 1)) found.push(at + name.length);
  return found;
}

const MOST_DIRECTORIES = 32;

/** The main chain of directories and those under them. */
function directories(tiff: Tiff): ReturnType<typeof directory>[] {
  const waiting = [uint32(tiff, 4)];
  const seen = new Set<number>();
  const found: ReturnType<typeof directory>[] = [];
  for (let offset = waiting.shift(); offset !== undefined && found.length < MOST_DIRECTORIES; offset = waiting.shift()) {
    if (offset <= 0 || seen.has(offset) || offset + 2 > tiff.view.byteLength) continue;
    seen.add(offset);
    const fields = directory(tiff, offset);
    found.push(fields);
    waiting.push(...integers(tiff, fields.get(TAG.subDirectories)));
    waiting.push(uint32(tiff, offset + 2 + 12 * tiff.view.getUint16(offset, tiff.little)));
  }
  return found;
}

/** Starts of a JPEG that are looked at: compressed data holds some by chance, hostile files any number. */
const MOST_PREVIEWS = 1000;

/** The largest JPEG inside a raw file: the preview that the camera made, often in full size. */
export function embeddedJpeg(bytes: Uint8Array): { readonly jpeg: Uint8Array; readonly size: Size } | undefined {
  let best: { jpeg: Uint8Array; size: Size } | undefined;
  let left = MOST_PREVIEWS;
  for (let at = bytes.indexOf(0xff); left > 0 && at >= 0 && at + 4 < bytes.length; at = bytes.indexOf(0xff, at + 1)) {
    if (bytes[at + 1] !== 0xd8 || bytes[at + 2] !== 0xff || bytes[at + 3] === 0xc4) continue; // a lossless one starts with its tables
    left -= 1;
    const jpeg = bytes.subarray(at);
    const header = imageHeader(jpeg.subarray(0, 1 << 17), "preview");
    if (header && header.width * header.height > (best ? best.size.width * best.size.height : 0))
      best = { jpeg, size: { width: header.width, height: header.height } };
  }
  return best;
}
