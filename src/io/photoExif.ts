import { tiffAt, type Tiff } from "./exif.ts";
import { isHeif, readHeifHeader } from "./heif.ts";

/**
 * The EXIF block of a photograph, for an image made from it: upright, so its orientation is 1, and without the thumbnail of the original.
 * From the first bytes of a JPEG, PNG, WebP or HEIF file; undefined where there is none, or it is damaged. Never throws.
 */
export function copyExif(head: Uint8Array): Uint8Array | undefined {
  try {
    const found = jpegExif(head) ?? pngExif(head) ?? webpExif(head) ?? heifExif(head);
    const block = found?.slice();
    const tiff = block && tiffAt(block, 0);
    if (!tiff) return undefined;
    makeUpright(tiff);
    return block;
  } catch {
    return undefined; // offsets that lead outside
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

const MARK = "Exif\0\0";

const textAt = (bytes: Uint8Array, at: number, length: number): string => String.fromCharCode(...bytes.subarray(at, at + length));

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView => new DataView(buffer, byteOffset, byteLength);

/** The block in APP1, before the image. */
function jpegExif(head: Uint8Array): Uint8Array | undefined {
  if (head[0] !== 0xff || head[1] !== 0xd8) return undefined;
  const view = viewOf(head);
  for (let at = 2; at + 4 < head.length && head[at] === 0xff && head[at + 1] !== 0xda; at += 2 + view.getUint16(at + 2))
    if (head[at + 1] === 0xe1 && textAt(head, at + 4, 6) === MARK) return head.subarray(at + 10, at + 2 + view.getUint16(at + 2));
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
    return textAt(block, 0, 6) === MARK ? block.subarray(6) : block;
  }
  return undefined;
}

const even = (size: number): number => size + (size & 1);

/** The item starts with the distance to the TIFF header. */
function heifExif(head: Uint8Array): Uint8Array | undefined {
  if (!isHeif(head)) return undefined;
  const { exif } = readHeifHeader(head);
  if (!exif || exif.start + exif.length > head.length) return undefined;
  return head.subarray(exif.start + 4 + viewOf(head).getUint32(exif.start), exif.start + exif.length);
}

/** Most bytes of one segment of a JPEG, with its length. */
const MOST = 65535;

/** A JPEG file without EXIF, given this block; left as it is if the block is too long for a JPEG. */
export function withJpegExif(jpeg: Uint8Array, exif: Uint8Array): Uint8Array {
  const length = 2 + MARK.length + exif.length;
  if (length > MOST) return jpeg;
  const segment = new Uint8Array(2 + length);
  segment.set([0xff, 0xe1, length >> 8, length & 255, ...new TextEncoder().encode(MARK)]);
  segment.set(exif, 4 + MARK.length);
  const file = new Uint8Array(jpeg.length + segment.length);
  file.set(jpeg.subarray(0, 2));
  file.set(segment, 2);
  file.set(jpeg.subarray(2), 2 + segment.length);
  return file;
}
