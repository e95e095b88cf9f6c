import { guidedModel } from "./guidedFilter.ts";
import { luminance } from "./luminance.ts";
import type { Plane } from "./boxFilter.ts";
import type { Window } from "./crop.ts";
import type { Image, Size } from "./image.ts";
import { between, rowsBetween } from "./between.ts";
import { blockOf, valuesOf, type Block } from "./pyramid.ts";
import { workspace } from "./simd/workspace.ts";

/** The map in a larger size, bilinear; only `part` of the result if given. */
export const enlarge = (map: Plane, size: Size, part?: Window): Float32Array =>
  workspace().scoped(() => valuesOf(enlargedBlock(blockOf({ ...map, channels: 1, data: map.values }), size, part)).slice());

/** The same for a block of one channel. */
export function enlargedBlock(map: Block, size: Size, part: Window = { ...size, left: 0, top: 0 }): Block {
  const { kernels, take, put } = workspace();
  const across = between({ from: map.width, to: size.width, start: part.left, count: part.width });
  const down = between({ from: map.height, to: size.height, start: part.top, count: part.height });
  const [lower, shares] = [put(across.lower), put(across.share)];
  const [row, out] = [take(map.width), take(part.width * part.height)];
  for (let y = 0; y < part.height; y++) {
    const upper = map.address + 4 * (down.lower[y] as number) * map.width;
    kernels.mixTwo(row, upper, upper + 4 * down.next * map.width, map.width, down.share[y] as number);
    kernels.stretchRow(out + 4 * y * part.width, row, lower, shares, across.next, part.width);
  }
  return { width: part.width, height: part.height, channels: 1, address: out };
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
function extreme({ width, height, values }: Plane, choose: (a: number, b: number) => number): Float32Array {
  const rows = new Float32Array(values.length);
  const out = new Float32Array(values.length);
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) {
      const [left, right] = [values[x > 0 ? i - 1 : i] as number, values[x < width - 1 ? i + 1 : i] as number];
      rows[i] = choose(choose(left, right), values[i] as number);
    }
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) {
      const [above, below] = [rows[y > 0 ? i - width : i] as number, rows[y < height - 1 ? i + width : i] as number];
      out[i] = choose(choose(above, below), rows[i] as number);
    }
  return out;
}
