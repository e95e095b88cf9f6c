import type { Size } from "./image.ts";
import { keptRows, workspace } from "./simd/workspace.ts";

/** Samples of a picture or map, row by row, channels interleaved. */
export interface Samples extends Size {
  readonly channels: number;
  readonly data: Float32Array;
}

/** The same in the workspace of the kernels, where it exists until the end of the scope that it was made in. */
export interface Block extends Size {
  readonly channels: number;
  readonly address: number;
}

export const halfSize = ({ width, height }: Size): Size => ({ width: (width + 1) >> 1, height: (height + 1) >> 1 });

/** The samples as a block. */
export const blockOf = ({ width, height, channels, data }: Samples): Block => ({ width, height, channels, address: workspace().put(data) });

/** The values of a block, valid until more room is taken in the workspace. */
export const valuesOf = ({ width, height, channels, address }: Block): Float32Array => workspace().view(address, width * height * channels);

/** Half the size, after the filter (1 4 6 4 1)/16 along both axes (Burt and Adelson 1983); borders are repeated. */
export function reduced({ width, height, channels, address }: Block): Block {
  const { kernels, take } = workspace();
  const small = halfSize({ width, height });
  const samples = small.width * channels;
  const out = take(samples * small.height);
  const halved = keptRows({ kept: 5, samples }, (y, into) => kernels.reduceRow(into, address + 4 * y * width * channels, width, channels));
  const rowAt = (y: number): number => halved(Math.min(Math.max(y, 0), height - 1));
  for (let y = 0; y < small.height; y++)
    kernels.mixFive(out + 4 * y * samples, rowAt(2 * y - 2), rowAt(2 * y - 1), rowAt(2 * y), rowAt(2 * y + 1), rowAt(2 * y + 2), samples);
  return { ...small, channels, address: out };
}

/** Subtracts a block of half the size, brought to the size of the first: the detail that the smaller one does not have is left. */
export function subtractExpanded(block: Block, smaller: Block): void {
  const row = 4 * smaller.width * smaller.channels;
  const expand = expansion(smaller, block, (y) => smaller.address + y * row);
  for (let y = 0; y < block.height; y++) expand(y, block.address + 4 * y * block.width * block.channels, -1);
}

/** Adds samples of half the size, brought to the size of the first: the inverse of `subtractExpanded`, for images of any size. */
export function addExpanded({ data, ...size }: Samples, smaller: Samples): void {
  const { take, view, scoped } = workspace();
  scoped(() => {
    const [row, smallRow] = [size.width * size.channels, smaller.width * smaller.channels];
    const target = take(row);
    const rowAt = keptRows({ kept: 3, samples: smallRow }, (y, address) => {
      view(address, smallRow).set(smaller.data.subarray(y * smallRow, (y + 1) * smallRow));
    });
    const expand = expansion(smaller, size, rowAt);
    for (let y = 0; y < size.height; y++) {
      const own = data.subarray(y * row, (y + 1) * row);
      view(target, row).set(own);
      expand(y, target, 1);
      own.set(view(target, row));
    }
  });
}

/** Adds row y of the smaller samples, brought to `size`, to the row at an address. Borders are repeated. */
function expansion(
  { width, height, channels }: Omit<Samples, "data">,
  size: Size,
  rowAt: (y: number) => number,
): (y: number, into: number, sign: 1 | -1) => void {
  const { kernels, take } = workspace();
  const samples = width * channels;
  const mixed = take(samples);
  return (y, into, sign) => {
    const middle = y >> 1;
    const [here, below] = [rowAt(middle), rowAt(Math.min(middle + 1, height - 1))];
    if (y % 2 === 1) kernels.mixTwo(mixed, here, below, samples, 0.5);
    else kernels.mixThree(mixed, rowAt(Math.max(middle - 1, 0)), here, below, samples, 0.125, 0.75);
    kernels.addExpandedRow(into, mixed, width, channels, size.width, sign);
  };
}
