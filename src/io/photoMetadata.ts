import type { Size } from "../image/image.ts";
import { copyProfile, METADATA_WINDOW, usableProfile } from "./iccProfile.ts";
import { adaptExif, copyExif } from "./photoExif.ts";
import { isRaw } from "./raw.ts";
import type { ByteSource } from "./tiffDirectories.ts";
import { tiffMetadata } from "./tiffMetadata.ts";

/** What an image made from a photograph takes over from it. */
export interface PhotoMetadata {
  /** The EXIF block, as TIFF. */
  readonly exif?: Uint8Array;
  /** The ICC profile: how the numbers look. Without one they are sRGB. */
  readonly profile?: Uint8Array;
}

/** From a photograph of any format, for an upright image of this shape with the same numbers. Never throws; damaged parts count as absent. */
export async function photoMetadata(source: ByteSource, image: Size & { readonly channels: 1 | 3 }): Promise<PhotoMetadata> {
  const head = await source.read(0, Math.min(METADATA_WINDOW, source.size));
  const found = await tiffMetadata(source);
  const exif = found.exif ? adaptExif(found.exif, image) : copyExif(head, image);
  // A raw file is developed to sRGB; a profile inside it belongs to something else.
  const profile = isRaw(head) ? undefined : (usableProfile(found.profile, image.channels) ?? copyProfile(head, image.channels));
  return { ...(exif ? { exif } : {}), ...(profile ? { profile } : {}) };
}
