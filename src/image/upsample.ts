import { guidedModel } from "./guidedFilter.ts";
import { luminance } from "./luminance.ts";
import type { Plane } from "./boxFilter.ts";
import type { Window } from "./crop.ts";
import { extreme } from "./extreme.ts";
import type { Image, Size } from "./image.ts";
import { between } from "./between.ts";
import { blockOf, type Block } from "./pyramid.ts";
import { alignedWith, WORD, workspace } from "./simd/workspace.ts";

/** The map in a larger size, bilinear; only `part` of the result if given. */
export function enlarge(map: Plane, size: Size, part: Window = { ...size, left: 0, top: 0 }): Float32Array {
  const { take, view, scoped } = workspace();
  const values = new Float32Array(part.width * part.height);
  scoped(() => {
    const rowAt = enlargedRows(blockOf({ ...map, channels: 1, data: map.values }), size, part);
    const row = take(part.width);
    for (let y = 0; y < part.height; y++) {
      rowAt(y, row);
      values.set(view(row, part.width), y * part.width);
    }
  });
  return values;
}

/** The same for a block of one channel. */
export function enlargedBlock(map: Block, size: Size, part: Window): Block {
  const rowAt = enlargedRows(map, size, part);
  const address = workspace().take(part.width * part.height);
  for (let y = 0; y < part.height; y++) rowAt(y, address + 4 * y * part.width);
  return { width: part.width, height: part.height, channels: 1, address };
}

/** Writes row y of the enlarged part to an address. */
function enlargedRows(map: Block, size: Size, part: Window): (y: number, into: number) => void {
  const { kernels, take, put } = workspace();
  const across = between({ from: map.width, to: size.width, start: part.left, count: part.width });
  const down = between({ from: map.height, to: size.height, start: part.top, count: part.height });
  const [lower, shares, row] = [put(across.lower), put(across.share), take(map.width)];
  return (y, into) => {
    const upper = map.address + 4 * (down.lower[y] as number) * map.width;
    kernels.mixTwo(row, upper, upper + 4 * down.next * map.width, map.width, down.share[y] as number);
    kernels.stretchRow(into, row, lower, shares, across.next, part.width);
  };
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
  const across = between({ from: map.width, to: guide.width });
  const down = between({ from: map.height, to: guide.height });
  const values = new Float32Array(guide.width * guide.height);
  const samples = guide.width * guide.channels;
  const { kernels, take, put, view, scoped } = workspace();
  scoped(() => {
    const maps = [slope, offset, extreme(map, Math.min), extreme(map, Math.max)].map(put);
    const rows = maps.map(() => take(map.width));
    const places = [put(across.lower), put(across.share)] as const;
    const [room, out] = [take(samples + WORD), take(guide.width)];
    for (let y = 0; y < guide.height; y++) {
      const upper = 4 * (down.lower[y] as number) * map.width;
      maps.forEach((address, i) => {
        const above = address + upper;
        kernels.mixTwo(rows[i] as number, above, above + 4 * down.next * map.width, map.width, down.share[y] as number);
      });
      const line = guide.data.subarray(y * samples, (y + 1) * samples);
      const row = alignedWith(line, room);
      view(row, samples).set(line);
      kernels.guidedRow(out, row, ...rows, ...places, across.next, guide.width, guide.channels);
      values.set(view(out, guide.width), y * guide.width);
    }
  });
  return values;
}
