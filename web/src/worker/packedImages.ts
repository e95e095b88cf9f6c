import type { Image } from "../../../src/image/image.ts";
import type { PackedImages } from "./protocol.ts";

/** Eight bits per sample are enough to look at: a quarter of the memory. */
export function packImages(images: readonly Image[]): PackedImages {
  const [{ width, height, channels }] = images as [Image];
  return { width, height, channels, images: images.map(({ data }) => Uint8Array.from(data, (value) => Math.round(255 * value))) };
}

export const unpackImages = ({ width, height, channels, images }: PackedImages): Image[] =>
  images.map((bytes) => ({ width, height, channels, data: Float32Array.from(bytes, (value) => value / 255) }));
