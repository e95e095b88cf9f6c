import type { Image } from "../../../src/image/image.ts";
import { shrinkImage, sizeWithin } from "../shrink.ts";

/** Longer side, in pixels: sharp at the size of a card on screens of double density. */
const SIDE = 320;

/** A small JPEG of a picture. */
export async function thumbnail(image: Image): Promise<Blob> {
  const small = shrinkImage(image, sizeWithin(image, SIDE));
  const { width, height, channels, data } = small;
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let i = 0; i < width * height; i++)
    for (let c = 0; c < 3; c++) pixels[4 * i + c] = 255 * (data[i * channels + (channels === 3 ? c : 0)] as number);
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d")?.putImageData(new ImageData(pixels, width, height), 0, 0);
  return canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
}
