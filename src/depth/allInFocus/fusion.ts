import { localEnergy, type Plane } from "../../image/boxFilter.ts";
import type { Window } from "../../image/crop.ts";
import type { Image, Size } from "../../image/image.ts";
import { addExpanded, blockOf, halfSize, reduced, subtractExpanded, valuesOf, type Block } from "../../image/pyramid.ts";
import { imageRows, OVERRUN, type PictureRows } from "../../image/rows.ts";
import { alignedWith, WORD, workspace } from "../../image/simd/workspace.ts";
import { enlargedBlock } from "../../image/upsample.ts";
import type { FocusProbability } from "../../network/focusProbability.ts";
import { planePrior, type PlaneMaps, type Preference } from "./prior.ts";

/** Where the frame of a plane can be used. By default everywhere. */
export interface Coverage {
  /** Whether the frame covers a pixel of the result and all within `margin` pixels of it. */
  readonly covers: (x: number, y: number, margin: number) => boolean;
  /** Whether it may be used wherever no likelier plane covers the result: the frame that the others were aligned to. */
  readonly isReserve: boolean;
}

export interface FusionOptions {
  readonly prefer?: Preference | undefined;
}

/** Levels of the Laplacian pyramid above the coarsest: details of up to 16 pixels are chosen, what is coarser is averaged. */
const LEVELS = 4;
/** Sides of the tiles in which a plane is processed, and of what they see of their neighbours: the reach of the filters of all levels. */
const TILE = 512;
const MARGIN = 64;
/** Energy is compared over squares of this radius, at each level in its own pixels. */
const RADIUS = 1;
/** What the reserve counts where it is not likely. */
export const RESERVE = 1e-6;
/** Added to the energy so that the prior decides where there is no detail; as in native/simd/kernels.ts. */
export const LEAST_ENERGY = 1e-12;

/**
 * The all-in-focus image of images in memory: the Laplacian pyramid (Burt and Adelson 1983) whose every detail is taken from the plane in
 * which it is strongest, as photo stackers do it, but only among planes that the network's p allows there. Only the pyramid of the result is
 * kept, 22 bytes per pixel in colour.
 */
export function fuseImages(images: readonly Image[], probability: FocusProbability, options: FusionOptions = {}): Image {
  const prior = planePrior(probability, options);
  const levels = createLevels(images[0] as Image);
  images.forEach((image, plane) => {
    workspace().scoped(() => {
      addPlane(levels, imageRows(image), { maps: prior.maps(plane) });
    });
  });
  return collapsed(levels);
}

/** Size and channels of the result. */
export type Shape = Pick<Image, "width" | "height" | "channels">;

export interface AddedPlane {
  readonly maps: PlaneMaps;
  readonly coverage?: Coverage | undefined;
  /** The index of the next tile to compute; default: one after the other. Threads that share the levels share the tiles. */
  readonly nextTile?: () => number;
}

/** Adds a plane to the pyramid of the result, tile by tile. Tiles do not overlap at any level, so that they can be computed in any order. */
export function addPlane(levels: readonly Level[], rows: PictureRows, { maps, coverage, nextTile = counter() }: AddedPlane): void {
  const { scoped } = workspace();
  const [size] = levels as readonly [Level];
  const least = coverage?.isReserve ? RESERVE : 0;
  const tiles = tilesOf(size);
  scoped(() => {
    const [choices, shares] = [maps.choice, maps.share].map((map) => fitted(map, levels)) as [Block[], Block[]];
    for (let tile = tiles[nextTile()]; tile; tile = tiles[nextTile()]) {
      if (least === 0 && !counts(maps.choice, tile, size)) continue;
      const covers = coverage && !coversTile(coverage.covers, tile) ? coverage.covers : undefined;
      const target = { levels, choices, shares, covers, least };
      const inTile = tile;
      scoped(() => {
        addTile(target, cut(rows, inTile, size.channels), inTile);
      });
    }
  });
}

const counter = (): (() => number) => {
  let next = 0;
  return () => next++;
};

/** A level of the result: the strongest detail so far and its score; at the coarsest level weighted sums and the sums of weights. */
export interface Level extends Size {
  readonly channels: Image["channels"];
  readonly data: Float32Array;
  readonly score: Float32Array;
}

/** The levels of an empty pyramid; `isShared`: in memory that threads can share. */
export function createLevels({ width, height, channels }: Shape, { isShared = false } = {}): Level[] {
  const array = (length: number): Float32Array =>
    isShared ? new Float32Array(new SharedArrayBuffer(4 * length)) : new Float32Array(length);
  return levelSizes({ width, height }).map((side) => {
    const area = side.width * side.height;
    return { ...side, channels, data: array(area * channels), score: array(area) };
  });
}

/** Of the image itself and of each coarser level. */
export function levelSizes({ width, height }: Size): Size[] {
  const sizes: Size[] = [];
  for (let level = 0, side: Size = { width, height }; level <= LEVELS; level++, side = halfSize(side)) {
    sizes.push(side);
    if (Math.min(side.width, side.height) < 2) break; // too small to be halved
  }
  return sizes;
}

interface Tile extends Window {
  /** What is seen of the image, in multiples of the coarsest level's pixels. */
  readonly seen: Window;
}

export function tilesOf({ width, height }: Size): Tile[] {
  const spans = (length: number): { start: number; end: number; from: number; to: number }[] =>
    Array.from({ length: Math.ceil(length / TILE) }, (_, i) => {
      const [start, end] = [i * TILE, Math.min((i + 1) * TILE, length)];
      return { start, end, from: Math.max(start - MARGIN, 0), to: Math.min(end + MARGIN, length) };
    });
  return spans(height).flatMap((down) =>
    spans(width).map((across) => ({
      left: across.start,
      top: down.start,
      width: across.end - across.start,
      height: down.end - down.start,
      seen: { left: across.from, top: down.from, width: across.to - across.from, height: down.to - down.from },
    })),
  );
}

type Covers = Coverage["covers"];

/** At the corners, and so everywhere between them. */
function coversTile(covers: Covers, { left, top, width, height }: Window): boolean {
  const [right, bottom] = [left + width - 1, top + height - 1];
  return [covers(left, top, MARGIN), covers(right, top, MARGIN), covers(left, bottom, MARGIN), covers(right, bottom, MARGIN)].every(
    Boolean,
  );
}

/** Whether the plane counts anywhere in the tile. */
function counts({ width, height, values }: Plane, tile: Window, size: Size): boolean {
  const span = (start: number, length: number, from: number, to: number): [number, number] => [
    Math.max(Math.floor((start * from) / to) - 2, 0),
    Math.min(Math.ceil(((start + length) * from) / to) + 2, from),
  ];
  const [left, right] = span(tile.left, tile.width, width, size.width);
  const [top, bottom] = span(tile.top, tile.height, height, size.height);
  for (let y = top; y < bottom; y++) for (let at = y * width + left; at < y * width + right; at++) if (values[at] !== 0) return true;
  return false;
}

/** For each level the map, halved until it is no larger than the level. */
function fitted({ width, height, values }: Plane, levels: readonly Size[]): Block[] {
  let map = blockOf({ width, height, channels: 1, data: values });
  return levels.map((level) => {
    while (map.width >= 1.5 * level.width && map.height >= 1.5 * level.height) map = reduced(map);
    return map;
  });
}

function cut(rows: PictureRows, { seen }: Tile, channels: number): Block {
  const { width, height } = seen;
  const block = { width, height, channels, address: workspace().take(width * height * channels + OVERRUN) };
  const span = { from: seen.left, to: seen.left + width };
  for (let y = 0; y < height; y++) rows(seen.top + y, span, block.address + 4 * y * width * channels);
  return block;
}

interface Target {
  readonly levels: readonly Level[];
  /** What the plane counts at each level. */
  readonly choices: readonly Block[];
  readonly shares: readonly Block[];
  /** Given only where the frame does not cover the whole tile. */
  readonly covers: Covers | undefined;
  /** What the plane counts at least. */
  readonly least: number;
}

function addTile({ levels, choices, shares, covers, least }: Target, tileImage: Block, tile: Tile): void {
  let samples = tileImage;
  for (const [n, level] of levels.entries()) {
    const scale = 2 ** n;
    const seen = { left: tile.seen.left / scale, top: tile.seen.top / scale, width: samples.width, height: samples.height };
    const part = {
      left: tile.left / scale,
      top: tile.top / scale,
      width: Math.ceil(tile.width / scale),
      height: Math.ceil(tile.height / scale),
    };
    const where = { level, seen, part, scale, covers, least };
    if (n === levels.length - 1) addShare(samples, enlargedBlock(shares[n] as Block, level, part), where);
    else {
      const smaller = reduced(samples);
      subtractExpanded(samples, smaller);
      chooseStrongest(samples, enlargedBlock(choices[n] as Block, level, part), where);
      samples = smaller;
    }
  }
}

interface Place {
  readonly level: Level;
  /** What the samples show, and which part of it is the tile's; both in pixels of the level. */
  readonly seen: Window;
  readonly part: Window;
  readonly scale: number;
  readonly covers: Covers | undefined;
  readonly least: number;
}

function chooseStrongest(detail: Block, prior: Block, { level, seen, part, scale, covers, least }: Place): void {
  const { kernels, take, heap } = workspace();
  const { channels } = level;
  const energy = localEnergy(detail, RADIUS);
  const [scoreRoom, dataRoom, chosen] = [take(part.width + WORD), take(part.width * channels + WORD), take(2)];
  const values = heap(); // one view for all rows: to make one takes as long as to copy a row
  for (let y = 0; y < part.height; y++) {
    const { from, to } = coveredSpan(covers, { y: (part.top + y) * scale, left: part.left, width: part.width, scale });
    if (from >= to) continue;
    const inSeen = (part.top - seen.top + y) * seen.width + part.left - seen.left + from;
    const inLevel = (part.top + y) * level.width + part.left + from;
    const scores = level.score.subarray(inLevel, inLevel + to - from);
    const score = alignedWith(scores, scoreRoom);
    values.set(scores, score / 4);
    const [own, weights] = [energy.address + 4 * inSeen, prior.address + 4 * (y * part.width + from)];
    if (!kernels.findStronger(chosen, score, own, weights, to - from, least)) continue;
    const [first, end] = [values[chosen / 4] as number, values[chosen / 4 + 1] as number];
    const details = level.data.subarray((inLevel + first) * channels, (inLevel + end) * channels);
    const data = alignedWith(details, dataRoom);
    values.set(details, data / 4);
    kernels.chooseRow(score + 4 * first, data, own + 4 * first, weights + 4 * first, detail.address + 4 * (inSeen + first) * channels, end - first, channels, least); // prettier-ignore
    scores.set(values.subarray(score / 4 + first, score / 4 + end), first);
    details.set(values.subarray(data / 4, data / 4 + details.length));
  }
}

interface Row {
  /** In pixels of the image. */
  readonly y: number;
  /** In pixels of the level. */
  readonly left: number;
  readonly width: number;
  readonly scale: number;
}

/** The columns of a part's row that the frame covers: one span, because frames are convex. */
function coveredSpan(covers: Covers | undefined, { y, left, width, scale }: Row): { from: number; to: number } {
  let [from, to] = [0, width];
  if (!covers) return { from, to };
  while (from < to && !covers((left + from) * scale, y, 3 * scale)) from++;
  while (to > from && !covers((left + to - 1) * scale, y, 3 * scale)) to--;
  return { from, to };
}

function addShare(block: Block, prior: Block, { level, seen, part, scale, covers }: Place): void {
  const { channels } = level;
  const [share, samples] = [valuesOf(prior), valuesOf(block)];
  for (let y = 0, i = 0; y < part.height; y++) {
    const inSeen = (part.top - seen.top + y) * seen.width + part.left - seen.left;
    const inLevel = (part.top + y) * level.width + part.left;
    for (let x = 0; x < part.width; x++, i++) {
      if (covers && !covers((part.left + x) * scale, (part.top + y) * scale, 2 * scale)) continue;
      const weight = share[i] as number;
      level.score[inLevel + x] = (level.score[inLevel + x] as number) + weight;
      const [from, to] = [(inSeen + x) * channels, (inLevel + x) * channels];
      for (let c = 0; c < channels; c++) level.data[to + c] = (level.data[to + c] as number) + weight * (samples[from + c] as number);
    }
  }
}

/** The image of the pyramid, clipped to [0, 1]; the levels are used up. */
export function collapsed(levels: readonly Level[]): Image {
  const coarsest = levels.at(-1) as Level;
  for (let i = 0, at = 0; i < coarsest.score.length; i++)
    for (const end = at + coarsest.channels; at < end; at++)
      coarsest.data[at] = (coarsest.data[at] as number) / (coarsest.score[i] as number);
  for (let n = levels.length - 2; n >= 0; n--) addExpanded(levels[n] as Level, levels[n + 1] as Level);
  const { width, height, channels, data } = levels[0] as Level;
  for (let i = 0; i < data.length; i++) data[i] = Math.min(Math.max(data[i] as number, 0), 1);
  return { width, height, channels, data };
}
