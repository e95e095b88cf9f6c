import type { DepthMap } from "./depthMap.ts";
import type { Image, Size } from "./image.ts";
import { resizeNearest } from "./nearest.ts";

/** The size with the same aspect ratio whose longer side is at most `side`. */
export function sizeWithin({ width, height }: Size, side: number): Size {
  const factor = Math.min(1, side / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/** Each new pixel is the mean of the pixels it covers: fast, and good enough for display. Never enlarges. */
export function shrinkImage(image: Image, size: Size): Image {
  const { width, height, channels, data } = image;
  if (size.width >= width && size.height >= height) return image;
  const small = new Float32Array(size.width * size.height * channels);
  for (let y = 0; y < size.height; y++) {
    const [top, bottom] = span(y, height, size.height);
    for (let x = 0; x < size.width; x++) {
      const [left, right] = span(x, width, size.width);
      const share = 1 / ((bottom - top) * (right - left));
      const at = (y * size.width + x) * channels;
      for (let row = top; row < bottom; row++)
        for (let i = (row * width + left) * channels; i < (row * width + right) * channels; i++) {
          const into = at + (i % channels);
          small[into] = (small[into] as number) + share * (data[i] as number);
        }
    }
  }
  return { ...size, channels, data: small };
}

const span = (i: number, from: number, to: number): [number, number] => {
  const first = Math.floor((i * from) / to);
  return [first, Math.max(first + 1, Math.floor(((i + 1) * from) / to))];
};

/** The depth at each new pixel's centre. Never enlarges. */
export function shrinkDepth(depth: DepthMap, size: Size): DepthMap {
  if (size.width >= depth.width && size.height >= depth.height) return depth;
  return { ...depth, ...size, values: resizeNearest(depth.values, depth, size), valid: resizeNearest(depth.valid, depth, size) };
}
