import type { Size } from "./pad.ts";

/** A rectangle of a picture, pixels. */
export interface Tile extends Size {
  readonly left: number;
  readonly top: number;
}

/** Tiles begin at multiples of this: the network's coarsest cells then lie where they would in the whole picture. */
const CELL = 32;
/** Least pixels two neighbouring tiles share. */
export const TILE_OVERLAP = 128;
/** Pixels along a tile's inner border that do not count: convolutions there saw the mirrored picture instead of the real one. */
const BLIND = 32;
/** Every picture can be cut into tiles of this side. */
const LEAST_SIDE = 288;

/**
 * Tiles of at most `maxPixels` that cover a picture, neighbours overlapping by `TILE_OVERLAP` or more; one if it fits. Of all grids, the
 * one with the least work.
 */
export function tilesOf({ width, height }: Size, maxPixels: number): Tile[] {
  const least = LEAST_SIDE ** 2;
  if (!(maxPixels >= least)) throw new RangeError(`tiles: maxPixels must be at least ${least}, got ${maxPixels}`);
  const grids: { columns: number; rows: number }[] = [];
  for (let columns = 1; columns <= most(width); columns++)
    for (let rows = 1; rows <= most(height); rows++)
      if (tileLength(width, columns) * tileLength(height, rows) <= maxPixels) grids.push({ columns, rows });
  const work = ({ columns, rows }: { columns: number; rows: number }): number =>
    columns * tileLength(width, columns) * rows * tileLength(height, rows);
  const [best] = grids.sort((a, b) => work(a) - work(b));
  if (!best) throw new Error(`tiles: no grid of tiles of ${maxPixels} pixels covers ${width}×${height}`);
  const across = spans(width, best.columns);
  return spans(height, best.rows).flatMap((down) =>
    across.map((span) => ({ left: span.start, width: span.length, top: down.start, height: down.length })),
  );
}

/** Tiles along an axis beyond which each would hold nothing but overlap. */
const most = (length: number): number => Math.max(1, Math.ceil(length / TILE_OVERLAP) - 1);

/** Pixels of each of `count` overlapping spans of an axis. */
function tileLength(length: number, count: number): number {
  if (count === 1) return length;
  return Math.ceil((length + (count - 1) * TILE_OVERLAP) / count / CELL) * CELL + CELL; // a cell more, as starts are rounded
}

function spans(length: number, count: number): { readonly start: number; readonly length: number }[] {
  const size = Math.min(tileLength(length, count), length);
  return Array.from({ length: count }, (_, i) => {
    const last = i === count - 1;
    const start = count === 1 ? 0 : (last ? Math.ceil : Math.floor)((i * (length - size)) / (count - 1) / CELL) * CELL;
    return { start, length: last ? length - start : size };
  });
}

/**
 * How much each pixel of a tile counts: 1 inside, falling smoothly to 0 towards borders where a neighbour takes over, so that no seam
 * shows. Where two tiles share just `TILE_OVERLAP` pixels their weights sum to 1; elsewhere divide by the sum.
 */
export function tileWeights(tile: Tile, picture: Size): Float32Array {
  const across = rampWeights({ start: tile.left, length: tile.width, of: picture.width });
  const down = rampWeights({ start: tile.top, length: tile.height, of: picture.height });
  return Float32Array.from(
    { length: tile.width * tile.height },
    (_, i) => (across[i % tile.width] as number) * (down[Math.floor(i / tile.width)] as number),
  );
}

function rampWeights({ start, length, of }: { start: number; length: number; of: number }): Float64Array {
  const ramp = (inside: number): number => {
    const t = Math.min(Math.max((inside - BLIND) / (TILE_OVERLAP - 2 * BLIND), 0), 1);
    return t * t * (3 - 2 * t);
  };
  return Float64Array.from({ length }, (_, i) => {
    const before = start === 0 ? 1 : ramp(i + 0.5);
    const after = start + length === of ? 1 : ramp(length - i - 0.5);
    return before * after;
  });
}
