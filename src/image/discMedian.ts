import type { Plane } from "./boxFilter.ts";
import { nthSmallest } from "./quantile.ts";

/** The medians of the values within `radius` of some pixels, where the map has that many: of an even number of values the greater of the two in the middle. */
export function discMedians({ width, height, values }: Plane, pixels: ArrayLike<number>, radius: number): Float32Array {
  const reach = Math.floor(radius);
  const [across, down] = offsetsWithin(radius);
  const near = new Float32Array(across.length);
  const medians = new Float32Array(pixels.length);
  for (let i = 0; i < medians.length; i++) {
    const [x, y] = [(pixels[i] as number) % width, Math.floor((pixels[i] as number) / width)];
    const isInner = x >= reach && x < width - reach && y >= reach && y < height - reach;
    let [count, isFlat] = [0, true];
    for (let k = 0; k < across.length; k++) {
      const [u, v] = [x + (across[k] as number), y + (down[k] as number)];
      if (!isInner && (u < 0 || u >= width || v < 0 || v >= height)) continue;
      near[count++] = values[v * width + u] as number;
      isFlat &&= near[count - 1] === near[0];
    }
    medians[i] = isFlat ? (near[0] as number) : nthSmallest(near.subarray(0, count), count >> 1);
  }
  return medians;
}

function offsetsWithin(radius: number): readonly [across: Int32Array, down: Int32Array] {
  const reach = Math.floor(radius);
  const line = Array.from({ length: 2 * reach + 1 }, (_, k) => k - reach);
  const offsets = line.flatMap((v) => line.filter((u) => u ** 2 + v ** 2 <= radius ** 2).map((u) => [u, v] as const));
  return [Int32Array.from(offsets, ([u]) => u), Int32Array.from(offsets, ([, v]) => v)];
}
