import { guidedModel } from "../classical/guidedFilter.ts";
import { luminance } from "../classical/luminance.ts";
import type { Image } from "../image.ts";

/** One value a pixel. */
export interface PixelMap {
  readonly width: number;
  readonly height: number;
  readonly values: Float32Array;
}

/** The map in a larger size, bilinear between its pixels. */
export function enlarge({ width, height, values }: PixelMap, size: { readonly width: number; readonly height: number }): Float32Array {
  const out = new Float32Array(size.width * size.height);
  const positions = (from: number, to: number): Float64Array =>
    Float64Array.from({ length: to }, (_, i) => Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1));
  const [across, down] = [positions(width, size.width), positions(height, size.height)];
  for (let y = 0; y < size.height; y++) {
    const [top, sy] = [Math.floor(down[y] as number), (down[y] as number) % 1];
    const [row, next] = [top * width, Math.min(top + 1, height - 1) * width];
    for (let x = 0; x < size.width; x++) {
      const [left, sx] = [Math.floor(across[x] as number), (across[x] as number) % 1];
      const right = Math.min(left + 1, width - 1);
      const upper = (values[row + left] as number) * (1 - sx) + (values[row + right] as number) * sx;
      const lower = (values[next + left] as number) * (1 - sx) + (values[next + right] as number) * sx;
      out[y * size.width + x] = upper * (1 - sy) + lower * sy;
    }
  }
  return out;
}

const RADIUS = 4; //        pixels of the small map: the width of the soft seam the network leaves at a depth edge
const SMOOTHNESS = 1e-3; // squared brightness: contrasts below 3 % are texture, not edges

/**
 * A map brought to the size of `guide`, its edges moved to the guide's: the fast guided filter (He and Sun 2015). The linear model
 * between brightness and the map is found in the small size, enlarged, and applied to the guide; the result stays within the values
 * around each pixel, so that nothing is invented.
 */
export function guidedEnlarge(map: PixelMap, { small, guide }: { readonly small: Image; readonly guide: Image }): Float32Array {
  const model = guidedModel(luminance(small), { radius: RADIUS, smoothness: SMOOTHNESS })(map);
  const [slope, offset, low, high] = [model.slope, model.offset, extreme(map, Math.min), extreme(map, Math.max)].map((values) =>
    enlarge({ ...map, values }, guide),
  ) as [Float32Array, Float32Array, Float32Array, Float32Array];
  return luminance(guide).values.map((brightness, i) =>
    Math.min(Math.max((slope[i] as number) * brightness + (offset[i] as number), low[i] as number), high[i] as number),
  );
}

/** Least or greatest value of the 3×3 pixels around each. */
function extreme({ width, height, values }: PixelMap, choose: (...values: number[]) => number): Float32Array {
  const along = (source: Float32Array, step: number, position: (i: number) => number, length: number): Float32Array =>
    source.map((value, i) => {
      const before = position(i) > 0 ? (source[i - step] as number) : value;
      const after = position(i) < length - 1 ? (source[i + step] as number) : value;
      return choose(before, value, after);
    });
  const rows = along(values, 1, (i) => i % width, width);
  return along(rows, width, (i) => Math.floor(i / width), height);
}
