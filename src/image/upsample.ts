import { guidedModel } from "./guidedFilter.ts";
import { luminance } from "./luminance.ts";
import type { Plane } from "./boxFilter.ts";
import type { Window } from "./crop.ts";
import type { Image, Size } from "./image.ts";
import { between, rowsBetween } from "./between.ts";

/** The map in a larger size, bilinear; only `part` of the result if given. */
export function enlarge(map: Plane, size: Size, part: Window = { ...size, left: 0, top: 0 }): Float32Array {
  const out = new Float32Array(part.width * part.height);
  const { lower, share, next } = between({ from: map.width, to: size.width, start: part.left, count: part.width });
  const rowAt = rowsBetween(map, between({ from: map.height, to: size.height, start: part.top, count: part.height }));
  for (let y = 0, at = 0; y < part.height; y++) {
    const row = rowAt(y);
    for (let x = 0; x < part.width; x++, at++) {
      const left = lower[x] as number;
      const value = row[left] as number;
      out[at] = value + ((row[left + next] as number) - value) * (share[x] as number);
    }
  }
  return out;
}

const RADIUS = 4; //        pixels of the small map: the width of the soft seam the network leaves at a depth edge
const SMOOTHNESS = 1e-3; // squared brightness: contrasts below 3 % are texture, not edges

/**
 * A map brought to the size of `guide`, its edges moved to the guide's: the fast guided filter (He and Sun 2015). The linear model
 * between brightness and the map is found in the small size, enlarged, and applied to the guide; the result stays within the values
 * around each pixel, so that no value is invented.
 */
export function guidedEnlarge(map: Plane, { small, guide }: { readonly small: Image; readonly guide: Image }): Float32Array {
  const { slope, offset } = guidedModel(luminance(small), { radius: RADIUS, smoothness: SMOOTHNESS })(map);
  const { lower, share, next } = between({ from: map.width, to: guide.width });
  const down = between({ from: map.height, to: guide.height });
  const [slopeAt, offsetAt, leastAt, mostAt] = [slope, offset, extreme(map, Math.min), extreme(map, Math.max)].map((values) =>
    rowsBetween({ width: map.width, values }, down),
  ) as [RowAt, RowAt, RowAt, RowAt];
  const out = new Float32Array(guide.width * guide.height);
  const samples = guide.width * guide.channels;
  for (let y = 0, at = 0; y < guide.height; y++) {
    const line = { width: guide.width, height: 1, channels: guide.channels, data: guide.data.subarray(y * samples, (y + 1) * samples) };
    const brightness = luminance(line).values;
    const [slopes, offsets, least, most] = [slopeAt(y), offsetAt(y), leastAt(y), mostAt(y)];
    for (let x = 0; x < guide.width; x++, at++) {
      const [left, part] = [lower[x] as number, share[x] as number];
      const right = left + next;
      const [a, b] = [slopes[left] as number, offsets[left] as number];
      const [low, high] = [least[left] as number, most[left] as number];
      const model = (a + ((slopes[right] as number) - a) * part) * (brightness[x] as number) + b + ((offsets[right] as number) - b) * part;
      const [floor, ceiling] = [low + ((least[right] as number) - low) * part, high + ((most[right] as number) - high) * part];
      out[at] = model < floor ? floor : model > ceiling ? ceiling : model;
    }
  }
  return out;
}

type RowAt = (y: number) => Float32Array;

/** Least or greatest value of the 3×3 pixels around each. */
function extreme({ width, height, values }: Plane, choose: (...values: number[]) => number): Float32Array {
  const along = (source: Float32Array, step: number, position: (i: number) => number, length: number): Float32Array =>
    source.map((value, i) => {
      const before = position(i) > 0 ? (source[i - step] as number) : value;
      const after = position(i) < length - 1 ? (source[i + step] as number) : value;
      return choose(before, value, after);
    });
  const rows = along(values, 1, (i) => i % width, width);
  return along(rows, width, (i) => Math.floor(i / width), height);
}
