import type { Plane } from "./boxFilter.ts";
import type { Window } from "./crop.ts";
import type { Size } from "./image.ts";
import { between } from "./between.ts";
import { blockOf, type Block } from "./pyramid.ts";
import { workspace } from "./simd/workspace.ts";

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
