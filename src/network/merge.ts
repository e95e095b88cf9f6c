import type { Size } from "../image/image.ts";
import type { Tile } from "./tiles.ts";

/** The weighted mean of overlapping pieces of `maps` maps, [maps, height, width]. */
export function createMerge({ maps, width, height }: Size & { readonly maps: number }): {
  add(tile: Tile, values: Float32Array, weights: Float32Array): void;
  finish(): Float32Array;
} {
  const area = width * height;
  const sum = new Float32Array(maps * area);
  const total = new Float32Array(area);
  return {
    add(tile, values, weights) {
      for (let y = 0; y < tile.height; y++) {
        const [to, from] = [(tile.top + y) * width + tile.left, y * tile.width];
        for (let x = 0; x < tile.width; x++) total[to + x] = (total[to + x] as number) + (weights[from + x] as number);
        for (let map = 0; map < maps; map++) {
          const [at, of] = [map * area + to, map * tile.width * tile.height + from];
          for (let x = 0; x < tile.width; x++)
            sum[at + x] = (sum[at + x] as number) + (weights[from + x] as number) * (values[of + x] as number);
        }
      }
    },
    finish() {
      for (let at = 0; at < sum.length; at += area)
        for (let i = 0; i < area; i++) sum[at + i] = (sum[at + i] as number) / (total[i] as number);
      return sum;
    },
  };
}
