import type { Size } from "../image/image.ts";
import type { Image } from "../image/image.ts";
import { workspace } from "../image/simd/workspace.ts";
import { SIZE_MULTIPLE } from "../model/encoder.ts";

/** The next larger size that the network accepts, at least `least` pixels on each side. */
export function paddedSize({ width, height }: Size, { least = SIZE_MULTIPLE }: { readonly least?: number } = {}): Size {
  const up = (side: number): number => Math.max(Math.ceil(side / SIZE_MULTIPLE) * SIZE_MULTIPLE, least);
  return { width: up(width), height: up(height) };
}

/** Source of pixel `i` if the image is mirrored at its right or bottom edge, repeatedly if necessary, without repeating the edge pixel. */
export function mirrored(i: number, side: number): number {
  if (side === 1) return 0;
  const phase = i % (2 * (side - 1));
  return phase < side ? phase : 2 * (side - 1) - phase;
}

/** Images as the network's input, [N, 3, H, W] at the padded size; grey becomes three equal channels. */
export function packImages(images: readonly Image[], { width, height }: Size): Float32Array {
  const packed = new Float32Array(images.length * 3 * width * height);
  const area = width * height;
  const { kernels, take, heap, scoped } = workspace();
  scoped(() => {
    for (const [n, { data, channels, ...size }] of images.entries()) {
      const [row, split] = [take(size.width * channels), take(3 * width)];
      const room = heap();
      for (let y = 0; y < size.height; y++) {
        room.set(data.subarray(y * size.width * channels, (y + 1) * size.width * channels), row / 4);
        if (channels === 3) kernels.splitPixels(split, row, size.width, 4 * width);
        for (let c = 0; c < 3; c++) {
          const from = (channels === 1 ? row : split + 4 * c * width) / 4;
          const to = (3 * n + c) * area + y * width;
          packed.set(room.subarray(from, from + size.width), to);
          for (let x = size.width; x < width; x++) packed[to + x] = room[from + mirrored(x, size.width)] as number;
        }
      }
      for (let y = size.height; y < height; y++)
        for (let at = 3 * n * area; at < 3 * (n + 1) * area; at += area) {
          const from = at + mirrored(y, size.height) * width;
          packed.copyWithin(at + y * width, from, from + width);
        }
    }
  });
  return packed;
}

/** The part `to` (by default at the top left) of each of `maps` maps of size `from`. */
export function crop(
  values: Float32Array,
  { from, to, maps }: { from: Size; to: Size & { readonly left?: number; readonly top?: number }; maps: number },
): Float32Array {
  const { left = 0, top = 0 } = to;
  const kept = new Float32Array(maps * to.width * to.height);
  for (let map = 0; map < maps; map++)
    for (let y = 0; y < to.height; y++) {
      const start = (map * from.height + top + y) * from.width + left;
      kept.set(values.subarray(start, start + to.width), (map * to.height + y) * to.width);
    }
  return kept;
}

/** A part of an image; the image itself if the part is all of it. */
export function cropImage(image: Image, { left, top, width, height }: Size & { readonly left: number; readonly top: number }): Image {
  if (width === image.width && height === image.height) return image;
  const { channels } = image;
  const inSamples = { width: width * channels, height, left: left * channels, top };
  const data = crop(image.data, { from: { width: image.width * channels, height: image.height }, to: inSamples, maps: 1 });
  return { width, height, channels, data };
}
