import type { Size } from "../image/image.ts";
import { directory, integers, tiffAt, uint32, type Tiff } from "./exif.ts";
import { isAvif, isHeif, readHeifHeader } from "./heif.ts";

/**
 * The EXIF block of a photograph, for an image of this size made from it: see `adaptExif`. From the first bytes of a JPEG, PNG, WebP, HEIF
 * or AVIF file; undefined where there is none, or it is damaged. Never throws.
 */
export function copyExif(head: Uint8Array, size: Size): Uint8Array | undefined {
  try {
    const found = jpegExif(head) ?? pngExif(head) ?? webpExif(head) ?? heifExif(head);
    return found && adaptExif(found, size);
  } catch {
    return undefined; // offsets that lead outside
  }
}

/** A copy of the block for an upright image of this size: orientation 1, its own size, no thumbnail. Undefined if it is damaged. */
export function adaptExif(block: Uint8Array, size: Size): Uint8Array | undefined {
  const copy = block.slice();
  const tiff = tiffAt(copy, 0);
  if (!tiff) return undefined;
  try {
    makeUpright(tiff);
    setSize(tiff, size);
    return copy;
  } catch {
    return undefined;
  }
}

const ORIENTATION = 0x0112;

/** In the first directory; a second one would be the thumbnail's. */
function makeUpright({ view, little }: Tiff): void {
  const start = view.getUint32(4, little);
  const count = view.getUint16(start, little);
  for (let i = 0; i < count; i++) {
    const entry = start + 2 + 12 * i;
    if (view.getUint16(entry, little) === ORIENTATION) view.setUint16(entry + 8, 1, little);
  }
  view.setUint32(start + 2 + 12 * count, 0, little);
}

const TAG = { exif: 0x8769, width: 0xa002, height: 0xa003 } as const;

/** Of the image as EXIF states it, in 16 or 32 bits. */
function setSize(tiff: Tiff, { width, height }: Size): void {
  const { view, little } = tiff;
  const [start] = integers(tiff, directory(tiff, uint32(tiff, 4)).get(TAG.exif));
  const fields = directory(tiff, start ?? -1);
  for (const [tag, side] of [
    [TAG.width, width],
    [TAG.height, height],
  ] as const) {
    const field = fields.get(tag);
    if (field?.type === 3) view.setUint16(field.at, side, little);
    if (field?.type === 4) view.setUint32(field.at, side, little);
  }
}

export const EXIF_MARK = "Exif\0\0";

const textAt = (bytes: Uint8Array, at: number, length: number): string => String.fromCharCode(...bytes.subarray(at, at + length));

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView => new DataView(buffer, byteOffset, byteLength);

/** The block in APP1, before the image. */
function jpegExif(head: Uint8Array): Uint8Array | undefined {
  if (head[0] !== 0xff || head[1] !== 0xd8) return undefined;
  const view = viewOf(head);
  for (let at = 2; at + 4 < head.length && head[at] === 0xff && head[at + 1] !== 0xda; at += 2 + view.getUint16(at + 2))
    if (head[at + 1] === 0xe1 && textAt(head, at + 4, 6) === EXIF_MARK) return head.subarray(at + 10, at + 2 + view.getUint16(at + 2));
  return undefined;
}

function pngExif(head: Uint8Array): Uint8Array | undefined {
  if (textAt(head, 1, 3) !== "PNG") return undefined;
  const view = viewOf(head);
  for (let at = 8; at + 12 <= head.length; at += 12 + view.getUint32(at))
    if (textAt(head, at + 4, 4) === "eXIf") return head.subarray(at + 8, at + 8 + view.getUint32(at));
  return undefined;
}

function webpExif(head: Uint8Array): Uint8Array | undefined {
  if (textAt(head, 0, 4) !== "RIFF" || textAt(head, 8, 4) !== "WEBP") return undefined;
  const view = viewOf(head);
  for (let at = 12; at + 8 <= head.length; at += 8 + even(view.getUint32(at + 4, true))) {
    if (textAt(head, at, 4) !== "EXIF") continue;
    const block = head.subarray(at + 8, at + 8 + view.getUint32(at + 4, true));
    return textAt(block, 0, 6) === EXIF_MARK ? block.subarray(6) : block;
  }
  return undefined;
}

const even = (size: number): number => size + (size & 1);

/** The item starts with the distance to the TIFF header. */
function heifExif(head: Uint8Array): Uint8Array | undefined {
  if (!isHeif(head) && !isAvif(head)) return undefined;
  const { exif } = readHeifHeader(head);
  if (!exif || exif.start + exif.length > head.length) return undefined;
  return head.subarray(exif.start + 4 + viewOf(head).getUint32(exif.start), exif.start + exif.length);
}
