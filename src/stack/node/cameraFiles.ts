import { turnUpright } from "../../image/orient.ts";
import { bmpHeader, decodeBmp, isBmp } from "../../io/bmp.ts";
import { FormatError } from "../../io/formatError.ts";
import { readPhotoFacts } from "../../io/exif.ts";
import { decodeHeic } from "../../io/heic.ts";
import { isHeif, readHeifHeader } from "../../io/heif.ts";
import { decodeRaw } from "../../io/node/libraw.ts";
import { embeddedJpeg, isRaw } from "../../io/raw.ts";
import { encodeTiff } from "../../io/tiff.ts";
import { baseName } from "../stackFormat.ts";
import type { ImageInfo } from "../stackFiles.ts";

/** Formats that sharp does not read: what phones and cameras write besides JPEG. Decoders are loaded by the first file that needs them. */
export const isCameraFile = (head: Uint8Array): boolean => isHeif(head) || isRaw(head) || isBmp(head);

/** What the header of such a file says. A raw file has to be developed: only then is it known that it can be, and how large it comes out. */
export async function probeCameraFile(file: string, head: Uint8Array, all: () => Promise<Uint8Array>): Promise<ImageInfo> {
  if (isBmp(head)) return { ...bmpHeader(head, file), orientation: 1 };
  if (isRaw(head)) return probeRaw(file, await all());
  const { width, height, orientation, bits } = readHeifHeader(head, file);
  return { width, height, orientation, channels: 3, depth: bits > 8 ? "16" : "8" };
}

async function probeRaw(file: string, bytes: Uint8Array): Promise<ImageInfo> {
  const raw = await decodeRaw(bytes);
  if (raw) return { width: raw.width, height: raw.height, orientation: raw.orientation, channels: 3, depth: "16" };
  const { size } = previewOf(file, bytes);
  const note = `${baseName(file)}: LibRaw cannot decode it; the JPEG inside it is used, ${size.width}×${size.height} pixels, 8 bits`;
  return { ...size, orientation: readPhotoFacts(bytes).orientation ?? 1, channels: 3, depth: "8", note };
}

interface ForSharp {
  readonly bytes: Uint8Array;
  /** The orientation that its pixels are to be turned by; undefined: its own. */
  readonly orientation?: number | undefined;
}

/** The same image in a format that sharp reads, 8 or 16 bits. Bytes of any other format come back as they are. */
export async function forSharp(file: string, bytes: Uint8Array, orientation?: number): Promise<ForSharp> {
  if (isBmp(bytes)) return { bytes: encodeTiff([decodeBmp(bytes, file)]), orientation };
  if (isRaw(bytes)) return developed(file, { bytes, orientation });
  if (!isHeif(bytes)) return { bytes, orientation };
  const { orientation: own } = readHeifHeader(bytes, file);
  const upright = await decodeHeic(bytes, file);
  if (orientation === undefined || orientation === own) return { bytes: encodeTiff([upright]), orientation: 1 };
  const stored = turnUpright<Uint8Array | Uint16Array>(upright, INVERSE[own] ?? own);
  return { bytes: encodeTiff([{ ...upright, ...stored, channels: 3 }]), orientation };
}

/** The turn that undoes a turn; the others undo themselves. */
const INVERSE: Readonly<Record<number, number>> = { 6: 8, 8: 6 };

async function developed(file: string, { bytes, orientation }: ForSharp): Promise<ForSharp> {
  const raw = await decodeRaw(bytes);
  if (raw) return { bytes: encodeTiff([raw]), orientation: orientation ?? raw.orientation };
  const { jpeg } = previewOf(file, bytes);
  return { bytes: jpeg, orientation: orientation ?? readPhotoFacts(bytes).orientation };
}

function previewOf(file: string, bytes: Uint8Array): NonNullable<ReturnType<typeof embeddedJpeg>> {
  const found = embeddedJpeg(bytes);
  if (!found) throw new FormatError(`${file}: not a readable raw file: LibRaw cannot decode it, and it holds no JPEG`);
  return found;
}
