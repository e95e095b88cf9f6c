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
