import type { Size } from "../image/image.ts";
import { directory, integers, tiffAt, uint32, type Tiff } from "./exif.ts";
import { brandsOf } from "./heif.ts";
import { imageHeader } from "./imageHeader.ts";

/** How the raw files of cameras are called. */
export const RAW_NAME = /\.(dng|nef|nrw|cr[23]|arw|raf|orf|rw2|pef|srw)$/i;

const TAG = { width: 256, height: 257, photometric: 262, subDirectories: 330, dngVersion: 50706 } as const;
const COLOUR_FILTER_ARRAY = 32803;
const LINEAR_RAW = 34892;

/** Whether a file that begins with these bytes holds what a camera's sensor saw, before it became an image. */
export function isRaw(head: Uint8Array): boolean {
  const mark = String.fromCharCode(...head.subarray(0, 15));
  if (mark === "FUJIFILMCCD-RAW" || brandsOf(head).includes("crx ")) return true;
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

/** The largest size that a raw file laid out as TIFF states anywhere: an upper bound, before a decoder sees it. */
export function largestRawSize(head: Uint8Array): Size | undefined {
  const tiff = tiffAt(head, 0);
  if (!tiff) return undefined;
  const sizes = directories(tiff).map((fields) => ({
    width: integers(tiff, fields.get(TAG.width))[0] ?? 0,
    height: integers(tiff, fields.get(TAG.height))[0] ?? 0,
  }));
  const largest = sizes.reduce((a, b) => (a.width * a.height >= b.width * b.height ? a : b), { width: 0, height: 0 });
  return largest.width * largest.height > 0 ? largest : undefined;
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
    if (header && header.width * header.height > (best ? best.size.width * best.size.height : 0)) best = { jpeg, size: header };
  }
  return best;
}
