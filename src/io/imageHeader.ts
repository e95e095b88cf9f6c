import type { Size } from "../image/image.ts";
import { FormatError } from "./formatError.ts";

/** What the header of an image says. Size as stored, before it is turned upright. */
export interface ImageHeader extends Size {
  readonly channels: 1 | 3;
  readonly depth: "8" | "16";
}

const PNG_MARK = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export const isPng = (head: Uint8Array): boolean => PNG_MARK.every((byte, i) => head[i] === byte);

/** Of a PNG or JPEG that begins with these bytes; undefined for other formats, and where its header is not within them. */
export const imageHeader = (head: Uint8Array, file: string): ImageHeader | undefined =>
  isPng(head) ? pngHeader(head, file) : jpegHeader(head);

/** From the first chunk. */
function pngHeader(head: Uint8Array, file: string): ImageHeader {
  if (head.length < 33) throw new FormatError(`${file}: not a readable PNG file: it ends within its header`);
  const view = viewOf(head);
  const [width, height, bits, colour] = [view.getUint32(16), view.getUint32(20), view.getUint8(24), view.getUint8(25)];
  if (width === 0 || height === 0) throw new FormatError(`${file}: not a readable PNG file: it is ${width}×${height} pixels`);
  return { width, height, channels: colour === 0 || colour === 4 ? 1 : 3, depth: bits === 16 ? "16" : "8" };
}

/** From the segment that starts the frame. */
function jpegHeader(head: Uint8Array): ImageHeader | undefined {
  if (head[0] !== 0xff || head[1] !== 0xd8) return undefined;
  const view = viewOf(head);
  for (let at = 2; at + 9 < head.length && head[at] === 0xff;) {
    const marker = head[at + 1] as number;
    if (marker === 0xff) {
      at += 1; // fill bytes may come before a marker
      continue;
    }
    const startsFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (startsFrame) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return width > 0 && height > 0 ? { width, height, channels: head[at + 9] === 1 ? 1 : 3, depth: "8" } : undefined;
    }
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView => new DataView(buffer, byteOffset, length);
