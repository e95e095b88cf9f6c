import { Unzlib } from "fflate";
import { isAvif, isHeif, readHeifHeader } from "./heif.ts";

/** More is not a profile of a camera or a screen. */
const MOST_BYTES = 4 << 20;

/** Bytes of a file within which EXIF and profile end, except in TIFF and raw files. */
export const METADATA_WINDOW = 1 << 20;

/**
 * The ICC profile of an image of this many channels, which says how its numbers look. From the metadata window of a JPEG, PNG, WebP, HEIF
 * or AVIF file, also where more of it is given: who decodes an image and who copies its profile must find the same one. Undefined where
 * there is none, or it is damaged, or for other channels. Never throws.
 */
export function copyProfile(bytes: Uint8Array, channels: 1 | 3): Uint8Array | undefined {
  const head = bytes.subarray(0, METADATA_WINDOW);
  try {
    return usableProfile(jpegProfile(head) ?? pngProfile(head) ?? webpProfile(head) ?? heifProfile(head), channels);
  } catch {
    return undefined; // offsets that lead outside, or data that cannot be unpacked
  }
}

/** The profile, if it is whole and for so many channels. */
export function usableProfile(profile: Uint8Array | undefined, channels: 1 | 3): Uint8Array | undefined {
  if (!profile || profile.length < 132 || profile.length > MOST_BYTES || textAt(profile, 36, 4) !== "acsp") return undefined;
  const isWhole = viewOf(profile).getUint32(0) === profile.length;
  return isWhole && textAt(profile, 16, 4) === (channels === 3 ? "RGB " : "GRAY") ? profile : undefined;
}

export const ICC_MARK = "ICC_PROFILE\0";

/** In segments APP2, each with its place among them. */
function jpegProfile(head: Uint8Array): Uint8Array | undefined {
  if (head[0] !== 0xff || head[1] !== 0xd8) return undefined;
  const view = viewOf(head);
  const parts: Uint8Array[] = [];
  for (let at = 2; at + 18 < head.length && head[at] === 0xff && head[at + 1] !== 0xda; at += 2 + view.getUint16(at + 2))
    if (head[at + 1] === 0xe2 && textAt(head, at + 4, ICC_MARK.length) === ICC_MARK)
      parts[(head[at + 16] as number) - 1] = head.subarray(at + 18, at + 2 + view.getUint16(at + 2));
  return parts.length > 0 && !parts.includes(undefined as never) ? joined(parts) : undefined;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

/** A name, the compression, which is always zlib's, and the compressed profile. */
function pngProfile(head: Uint8Array): Uint8Array | undefined {
  if (textAt(head, 1, 3) !== "PNG") return undefined;
  const view = viewOf(head);
  for (let at = 8; at + 12 <= head.length; at += 12 + view.getUint32(at)) {
    if (textAt(head, at + 4, 4) !== "iCCP") continue;
    const end = at + 8 + view.getUint32(at);
    if (end > head.length) return undefined;
    const chunk = head.subarray(at + 8, end);
    return unpacked(chunk.subarray(chunk.indexOf(0) + 2));
  }
  return undefined;
}

/** Compressed bytes unpacked at a time: one unpacks to at most 1032. */
const PIECE = 1024;

/** The profile says its length in its first bytes; nothing is unpacked beyond that: a small file may unpack to any length. */
function unpacked(packed: Uint8Array): Uint8Array | undefined {
  const parts: Uint8Array[] = [];
  let [there, length] = [0, Infinity];
  const inflate = new Unzlib((part) => {
    parts.push(part);
    there += part.length;
  });
  for (let at = 0; at < packed.length && there < length; at += PIECE) {
    inflate.push(packed.subarray(at, at + PIECE));
    if (length < Infinity || there < 4) continue;
    length = viewOf(joined(parts)).getUint32(0);
    if (length > MOST_BYTES) return undefined;
  }
  return there < length ? undefined : joined(parts).slice(0, length);
}

function webpProfile(head: Uint8Array): Uint8Array | undefined {
  if (textAt(head, 0, 4) !== "RIFF" || textAt(head, 8, 4) !== "WEBP") return undefined;
  const view = viewOf(head);
  for (let at = 12; at + 8 <= head.length; at += 8 + even(view.getUint32(at + 4, true)))
    if (textAt(head, at, 4) === "ICCP") return head.slice(at + 8, at + 8 + view.getUint32(at + 4, true));
  return undefined;
}

const heifProfile = (head: Uint8Array): Uint8Array | undefined => (isHeif(head) || isAvif(head) ? readHeifHeader(head).profile : undefined);

const even = (size: number): number => size + (size & 1);

const textAt = (bytes: Uint8Array, at: number, length: number): string => String.fromCharCode(...bytes.subarray(at, at + length));

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView => new DataView(buffer, byteOffset, byteLength);
