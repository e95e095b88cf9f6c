import { type DepthMap, depthMap } from "../../src/image/depthMap.ts";
import type { Image } from "../../src/image/image.ts";
import { createRandom } from "../../src/random.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";

/** Colour noise in [0, 1] with detail at several scales, the same for the same seed. */
export function texture({ width, height, seed = 1 }: { width: number; height: number; seed?: number }): Image {
  const random = createRandom(seed);
  const data = new Float32Array(width * height * 3).fill(0.5);
  for (const { cell, strength } of [
    { cell: 1, strength: 0.25 },
    { cell: 2, strength: 0.25 },
    { cell: 5, strength: 0.3 },
    { cell: 16, strength: 0.2 },
  ]) {
    const across = Math.ceil(width / cell);
    const values = Float32Array.from({ length: across * Math.ceil(height / cell) * 3 }, () => random.uniform() - 0.5);
    for (let i = 0; i < data.length; i++) {
      const [pixel, channel] = [Math.floor(i / 3), i % 3];
      const [x, y] = [pixel % width, Math.floor(pixel / width)];
      data[i] = (data[i] as number) + strength * (values[(Math.floor(y / cell) * across + Math.floor(x / cell)) * 3 + channel] as number);
    }
  }
  return { width, height, channels: 3, data };
}

/** Gaussian blur with a standard deviation of its own, in pixels, at every pixel; what lies outside the image does not count. */
export function gaussianBlur(image: Image, deviation: (x: number, y: number) => number): Image {
  const { width, height, channels } = image;
  const data = new Float32Array(image.data.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const sigma = Math.max(deviation(x, y), 1e-3);
      const reach = Math.ceil(3 * sigma);
      const falloff = Float64Array.from({ length: reach + 1 }, (_, r) => Math.exp(-(r ** 2) / (2 * sigma ** 2)));
      const sums = [0, 0, 0];
      let total = 0;
      for (let row = Math.max(y - reach, 0); row <= Math.min(y + reach, height - 1); row++) {
        for (let column = Math.max(x - reach, 0); column <= Math.min(x + reach, width - 1); column++) {
          const weight = (falloff[Math.abs(row - y)] as number) * (falloff[Math.abs(column - x)] as number);
          total += weight;
          const at = (row * width + column) * channels;
          for (let c = 0; c < channels; c++) sums[c] = (sums[c] as number) + weight * (image.data[at + c] as number);
        }
      }
      for (let c = 0; c < channels; c++) data[(y * width + x) * channels + c] = (sums[c] as number) / total;
    }
  }
  return { width, height, channels, data };
}

export interface TexturedStack {
  readonly stack: FocalStack;
  readonly trueDepth: DepthMap;
  readonly allInFocus: Image;
}

/**
 * A textured plane that recedes from left to right, from 0.6 planes behind the first focus distance to 0.6 before the last.
 * Its blur grows by `blurPerPlane` pixels of standard deviation for every plane out of focus. Depth in metres, 1 m apart from 1 m on.
 */
export function slantedStack({ width = 96, height = 64, planes = 6, blurPerPlane = 0.8, seed = 1 } = {}): TexturedStack {
  const allInFocus = texture({ width, height, seed });
  const focusDistances = Array.from({ length: planes }, (_, n) => 1 + n);
  const depthAt = (x: number): number => 1.6 + ((planes - 2.2) * x) / (width - 1);
  const images = focusDistances.map((focus) => gaussianBlur(allInFocus, (x) => blurPerPlane * Math.abs(depthAt(x) - focus)));
  const values = Float32Array.from({ length: width * height }, (_, i) => depthAt(i % width));
  return {
    stack: { images, focusDistances, space: "depth" },
    trueDepth: depthMap({ width, height, values, space: "depth" }),
    allInFocus,
  };
}
