import type { Size } from "../image/image.ts";

/** A rectangle of a picture, pixels. */
export interface Tile extends Size {
  readonly left: number;
  readonly top: number;
}

/** Tiles begin at multiples of this: the network's coarsest cells then lie where they would in the whole picture. */
const CELL = 32;

/** How neighbouring tiles share what lies between them, pixels. */
export interface Seam {
  /** Least that two neighbours have in common. */
  readonly overlap: number;
  /** Along a tile's inner border, what does not count: convolutions there saw the mirrored picture instead of the real one. */
  readonly blind: number;
}

/** For p: what lies farther away than 64 pixels, other than by the surface, moves the depth by less than a hundredth of a plane. */
export const SEAM: Seam = { overlap: 192, blind: 64 };
/** For the trunk's features at 1/32: each sees 217 pixels around. */
export const TRUNK_SEAM: Seam = { overlap: 448, blind: 208 };

/** Every picture can be cut into tiles of this many pixels. */
export const leastPixels = ({ overlap }: Seam): number => (2 * overlap + CELL) ** 2;

/** Tiles of at most `maxPixels` that cover a picture; one if it fits. Of all grids, the one with the least work. */
export function tilesOf({ width, height }: Size, maxPixels: number, seam: Seam = SEAM): Tile[] {
  const least = leastPixels(seam);
  if (!(maxPixels >= least)) throw new RangeError(`tiles: maxPixels must be at least ${least}, got ${maxPixels}`);
  const sideOf = (length: number, count: number): number => tileLength(length, count, seam);
  const grids: { columns: number; rows: number }[] = [];
  for (let columns = 1; columns <= most(width, seam); columns++)
    for (let rows = 1; rows <= most(height, seam); rows++)
      if (sideOf(width, columns) * sideOf(height, rows) <= maxPixels) grids.push({ columns, rows });
  const work = ({ columns, rows }: { columns: number; rows: number }): number =>
    columns * sideOf(width, columns) * rows * sideOf(height, rows);
  const [best] = grids.sort((a, b) => work(a) - work(b));
  if (!best) throw new Error(`tiles: no grid of tiles of ${maxPixels} pixels covers ${width}×${height}`);
  const across = spans(width, best.columns, seam);
  return spans(height, best.rows, seam).flatMap((down) =>
    across.map((span) => ({ left: span.start, width: span.length, top: down.start, height: down.length })),
  );
}

/** Tiles along an axis beyond which each would hold nothing but overlap. */
const most = (length: number, { overlap }: Seam): number => Math.max(1, Math.ceil(length / overlap) - 1);

/** Pixels of each of `count` overlapping spans of an axis. */
function tileLength(length: number, count: number, { overlap }: Seam): number {
  if (count === 1) return length;
  return Math.ceil((length + (count - 1) * overlap) / count / CELL) * CELL + CELL; // a cell more, as starts are rounded
}

function spans(length: number, count: number, seam: Seam): { readonly start: number; readonly length: number }[] {
  const size = Math.min(tileLength(length, count, seam), length);
  return Array.from({ length: count }, (_, i) => {
    const last = i === count - 1;
    const start = count === 1 ? 0 : (last ? Math.ceil : Math.floor)((i * (length - size)) / (count - 1) / CELL) * CELL;
    return { start, length: last ? length - start : size };
  });
}

/**
 * How much each pixel of a tile counts: 1 inside, falling smoothly to 0 towards borders where a neighbour takes over, so that no seam
 * shows. Where two tiles share just the overlap their weights sum to 1; elsewhere divide by the sum.
 */
export function tileWeights(tile: Tile, picture: Size, seam: Seam = SEAM): Float32Array {
  const across = rampWeights({ start: tile.left, length: tile.width, of: picture.width }, seam);
  const down = rampWeights({ start: tile.top, length: tile.height, of: picture.height }, seam);
  return Float32Array.from(
    { length: tile.width * tile.height },
    (_, i) => (across[i % tile.width] as number) * (down[Math.floor(i / tile.width)] as number),
  );
}

function rampWeights({ start, length, of }: { start: number; length: number; of: number }, { overlap, blind }: Seam): Float64Array {
  const ramp = (inside: number): number => {
    const t = Math.min(Math.max((inside - blind) / (overlap - 2 * blind), 0), 1);
    return t * t * (3 - 2 * t);
  };
  return Float64Array.from({ length }, (_, i) => {
    const before = start === 0 ? 1 : ramp(i + 0.5);
    const after = start + length === of ? 1 : ramp(length - i - 0.5);
    return before * after;
  });
}
