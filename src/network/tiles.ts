import type { Size } from "../image/image.ts";

/** A rectangle of an image, in pixels. */
export interface Tile extends Size {
  readonly left: number;
  readonly top: number;
}

/** Of all these tiles: the work on them grows with it. */
export const pixelsOf = (...tiles: readonly Tile[]): number => tiles.reduce((sum, { width, height }) => sum + width * height, 0);

/** Tiles start at multiples of this, so that the network's coarsest cells are aligned with those of the whole image. */
const CELL = 32;

/** How neighbouring tiles overlap, in pixels. */
export interface Seam {
  /** Minimum overlap of two neighbours. */
  readonly overlap: number;
  /** Width of a tile's inner border that is discarded: convolutions there saw the mirrored tile instead of the image. */
  readonly blind: number;
}

/**
 * For p: anything more than 80 pixels away, except through the surface, changes the depth by less than a hundredth of a plane; by up to
 * 0.016 in stacks of two planes, or of images that have nothing to do with each other.
 */
export const SEAM: Seam = { overlap: 192, blind: 80 };
/** For the trunk's features at 1/32, whose receptive field reaches 217 pixels. */
export const TRUNK_SEAM: Seam = { overlap: 448, blind: 208 };

/** Every image can be split into tiles of this many pixels. */
export const leastPixels = ({ overlap }: Seam): number => (2 * overlap + CELL) ** 2;

/** Tiles of at most `maxPixels` that cover an image; one if it fits. Of all possible grids, the one with the least work. */
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

/** Most tiles along an axis before they would consist of overlap only. */
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
 * Weight of each pixel of a tile: 1 inside, decreasing smoothly to 0 towards borders with a neighbour, so that no seam is visible. Where two
 * tiles share exactly the overlap their weights sum to 1; elsewhere divide by the sum.
 */
export function tileWeights(tile: Tile, image: Size, seam: Seam = SEAM): Float32Array {
  const across = rampWeights({ start: tile.left, length: tile.width, of: image.width }, seam);
  const down = rampWeights({ start: tile.top, length: tile.height, of: image.height }, seam);
  const weights = new Float32Array(tile.width * tile.height);
  for (let y = 0, i = 0; y < tile.height; y++)
    for (let x = 0; x < tile.width; x++, i++) weights[i] = (across[x] as number) * (down[y] as number);
  return weights;
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
