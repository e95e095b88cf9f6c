import type { Image } from "../../../src/image/image.ts";
import { pixelsOf } from "../paint.ts";
import { shrinkImage, sizeWithin } from "../../../src/image/shrink.ts";

/** Longer side in pixels: enough for a card on a high-density screen. */
const SIDE = 320;

/** A small JPEG of an image, whose numbers are those of `profile`, or sRGB. */
export async function thumbnail(image: Image, profile?: Uint8Array): Promise<Blob> {
  const { width, height, data } = pixelsOf(shrinkImage(image, sizeWithin(image, SIDE)), profile);
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d")?.putImageData(new ImageData(data, width, height), 0, 0);
  return canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
}
