import type { Size } from "../../../src/image/image.ts";
import { FormatError } from "../../../src/io/formatError.ts";

const PNG_MARK = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export const isPng = (head: Uint8Array): boolean => PNG_MARK.every((byte, i) => head[i] === byte);

/** Size and kind of pixel from the first chunk. */
export function pngHeader(head: Uint8Array, file: string): Size & { channels: 1 | 3; depth: "8" | "16" } {
  if (head.length < 33) throw new FormatError(`${file}: not a readable PNG file: it ends within its header`);
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  const [width, height, bits, colour] = [view.getUint32(16), view.getUint32(20), view.getUint8(24), view.getUint8(25)];
  if (width === 0 || height === 0) throw new FormatError(`${file}: not a readable PNG file: it is ${width}×${height} pixels`);
  return { width, height, channels: colour === 0 || colour === 4 ? 1 : 3, depth: bits === 16 ? "16" : "8" };
}

/** Whether a JPEG has one component; false for every other file. */
export function jpegIsGrey(head: Uint8Array): boolean {
  if (head[0] !== 0xff || head[1] !== 0xd8) return false;
  for (let at = 2; at + 9 < head.length;) {
    if (head[at] !== 0xff) return false;
    const marker = head[at + 1] as number;
    if (marker === 0xff) {
      at += 1; // fill bytes may come before a marker
      continue;
    }
    const startsFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (startsFrame) return head[at + 9] === 1;
    at += 2 + (((head[at + 2] as number) << 8) | (head[at + 3] as number));
  }
  return false;
}
