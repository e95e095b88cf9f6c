import { boxMean } from "../../src/image/boxFilter.ts";
import type { Image } from "../../src/image/image.ts";
import { luminance } from "../../src/image/luminance.ts";

/** Mean squared Laplacian of the brightness over 9×9 pixels. */
export function laplacianEnergy(image: Image): Float32Array {
  const { width, height, values } = luminance(image);
  const at = (x: number, y: number): number =>
    values[Math.min(Math.max(y, 0), height - 1) * width + Math.min(Math.max(x, 0), width - 1)] as number;
  const squares = values.map((value, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return (4 * value - at(x - 1, y) - at(x + 1, y) - at(x, y - 1) - at(x, y + 1)) ** 2;
  });
  return boxMean({ width, height, values: squares }, 4);
}

/**
 * The share of the textured pixels at which an image has at least 0.95 of the sharpest frame's energy. Textured is where the sharpest frame's
 * is above `threshold`², and four times the softest frame's: elsewhere it is noise.
 */
export function sharpShare(
  image: Float32Array,
  frames: readonly Float32Array[],
  { threshold = 0.03 }: { threshold?: number } = {},
): { sharp: number; textured: number } {
  let [textured, kept] = [0, 0];
  image.forEach((energy, i) => {
    const all = frames.map((frame) => frame[i] as number);
    const best = Math.max(...all);
    if (best <= threshold ** 2 || best <= 4 * Math.min(...all)) return;
    textured += 1;
    if (energy >= 0.95 * best) kept += 1;
  });
  return { sharp: kept / textured, textured: textured / image.length };
}
