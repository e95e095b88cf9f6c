import type { DepthMap } from "../../src/image/depthMap.ts";
import type { Image, Size } from "../../src/image/image.ts";

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

/** Takes the value at each new pixel's centre: depth must not be mixed across edges. */
export function shrinkDepth(depth: DepthMap, size: Size): DepthMap {
  const { width, height } = depth;
  if (size.width >= width && size.height >= height) return depth;
  const [values, valid] = [new Float32Array(size.width * size.height), new Uint8Array(size.width * size.height)];
  for (let i = 0; i < values.length; i++) {
    const [x, y] = [i % size.width, Math.floor(i / size.width)];
    const from = Math.floor(((y + 0.5) * height) / size.height) * width + Math.floor(((x + 0.5) * width) / size.width);
    values[i] = depth.values[from] as number;
    valid[i] = depth.valid[from] as number;
  }
  return { ...depth, ...size, values, valid };
}
