import { readPhotoFacts } from "../io/exif.ts";
import { FormatError } from "../io/formatError.ts";
import type { RawPixels } from "../io/libraw.ts";
import { embeddedJpeg } from "../io/raw.ts";
import { baseName } from "./stackFormat.ts";
import type { ImageInfo } from "./stackFiles.ts";

/** Develops a raw file; undefined if LibRaw cannot. */
export type DecodeRaw = (bytes: Uint8Array) => Promise<RawPixels | undefined>;

/** LibRaw takes a few seconds for the largest sensors, and a busy machine many times that. */
const [LEAST_SECONDS, SECONDS_PER_MEGABYTE] = [120, 4];

/** After this time LibRaw is taken not to come to an end with a file of so many bytes. */
export const rawSeconds = (bytes: number): number => LEAST_SECONDS + (SECONDS_PER_MEGABYTE * bytes) / 2 ** 20;

/** A raw file has to be developed: only then is it known that it can be, and how large it comes out. */
export async function probeRaw(file: string, bytes: Uint8Array, decode: DecodeRaw): Promise<ImageInfo> {
  const raw = await decode(bytes);
  if (raw) return { width: raw.width, height: raw.height, orientation: raw.orientation, channels: 3, depth: "16" };
  const { size } = previewOf(file, bytes);
  const note = `${baseName(file)}: LibRaw cannot decode it; the JPEG inside it is used, ${size.width}×${size.height} pixels, 8 bits`;
  return { ...size, orientation: readPhotoFacts(bytes).orientation ?? 1, channels: 3, depth: "8", note };
}

/** The image that the camera put into a raw file, which stands in where LibRaw cannot decode the rest. */
export function previewOf(file: string, bytes: Uint8Array): NonNullable<ReturnType<typeof embeddedJpeg>> {
  const found = embeddedJpeg(bytes);
  if (!found) throw new FormatError(`${file}: not a readable raw file: LibRaw cannot decode it, and it holds no JPEG`, { facts: { file } });
  return found;
}
