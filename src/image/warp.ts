import type { Image } from "./image.ts";

/** Shift in pixels, scale as a factor, turn in radians, about the middle of the picture. */
export interface Similarity {
  readonly across: number;
  readonly down: number;
  readonly scale: number;
  readonly turn: number;
}

/** The picture moved by a similarity, linear between pixels, the border mirrored. */
export function warpImage(image: Image, { across, down, scale, turn }: Similarity): Image {
  const { width, height, channels, data } = image;
  const [middleX, middleY] = [(width - 1) / 2, (height - 1) / 2];
  const [cos, sin] = [Math.cos(turn) / scale, Math.sin(turn) / scale];
  const out = new Float32Array(data.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [x - middleX - across, y - middleY - down];
      const [sourceX, sourceY] = [cos * dx + sin * dy + middleX, cos * dy - sin * dx + middleY];
      const [left, top] = [Math.floor(sourceX), Math.floor(sourceY)];
      const [beside, below] = [sourceX - left, sourceY - top];
      const [x0, x1] = [mirror(left, width), mirror(left + 1, width)];
      const [y0, y1] = [mirror(top, height) * width, mirror(top + 1, height) * width];
      for (let c = 0; c < channels; c++) {
        const upper = (data[(y0 + x0) * channels + c] as number) * (1 - beside) + (data[(y0 + x1) * channels + c] as number) * beside;
        const lower = (data[(y1 + x0) * channels + c] as number) * (1 - beside) + (data[(y1 + x1) * channels + c] as number) * beside;
        out[(y * width + x) * channels + c] = upper * (1 - below) + lower * below;
      }
    }
  return { ...image, data: out };
}

function mirror(i: number, size: number): number {
  if (i >= 0 && i < size) return i;
  if (size === 1) return 0;
  const period = 2 * (size - 1);
  const folded = ((i % period) + period) % period;
  return folded < size ? folded : period - folded;
}
