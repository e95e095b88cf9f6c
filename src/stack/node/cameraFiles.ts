import { turnUpright } from "../../image/orient.ts";
import { bmpHeader, decodeBmp, isBmp } from "../../io/bmp.ts";
import { readPhotoFacts } from "../../io/exif.ts";
import { decodeHeic } from "../../io/heic.ts";
import { isHeif, readHeifHeader } from "../../io/heif.ts";
import { decodeRaw } from "./decodeRaw.ts";
import { isRaw } from "../../io/raw.ts";
import { encodeTiff } from "../../io/tiff.ts";
import { previewOf, probeRaw } from "../rawImage.ts";
import type { ImageInfo } from "../stackFiles.ts";

/** Formats that sharp does not read: what phones and cameras write besides JPEG. Decoders are loaded by the first file that needs them. */
export const isCameraFile = (head: Uint8Array): boolean => isHeif(head) || isRaw(head) || isBmp(head);

/** What the header of such a file says. */
export async function probeCameraFile(file: string, head: Uint8Array, all: () => Promise<Uint8Array>): Promise<ImageInfo> {
  if (isBmp(head)) return { ...bmpHeader(head, file), orientation: 1 };
  if (isRaw(head)) return probeRaw(file, await all(), (bytes) => decodeRaw(bytes, { file }));
  const { width, height, orientation, bits } = readHeifHeader(head, file);
  return { width, height, orientation, channels: 3, depth: bits > 8 ? "16" : "8" };
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
  const raw = await decodeRaw(bytes, { file });
  if (raw) return { bytes: encodeTiff([raw]), orientation: orientation ?? raw.orientation };
  const { jpeg } = previewOf(file, bytes);
  return { bytes: jpeg, orientation: orientation ?? readPhotoFacts(bytes).orientation };
}
