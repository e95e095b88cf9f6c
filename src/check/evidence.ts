import { hasMoved } from "../align/alignedRows.ts";
import { commonArea } from "../align/apply.ts";
import type { Similarity } from "../align/similarity.ts";
import { boxMeanBlock, smoothBlock, type Plane } from "../image/boxFilter.ts";
import type { Size } from "../image/image.ts";
import { blockOf, type Block } from "../image/pyramid.ts";
import { quantile } from "../image/quantile.ts";
import { workspace } from "../image/simd/workspace.ts";
import { choosePlanes } from "../stack/focalStack.ts";
import type { Finding } from "./finding.ts";

/** Bands of detail are the differences of successive blurs by these radii in pixels; focus changes the finest a textured surface has. */
const BLURS = [0, 1, 3] as const;

/** Radius over which the energy of a band is averaged. */
const WINDOW = 5;

/** Share of the pixels that are assumed to show noise alone in their quietest plane. */
const QUIETEST = 0.1;

/** Energy of noise that rounding to 8 bits leaves. */
const ROUNDING = 1 / 12 / 255 ** 2;

/** Noise is counted this many times, so that where there is little else the share below stays small. */
const OVER_NOISE = 4;

/** What the images themselves show of focus around each pixel. */
export interface FocusSigns {
  /**
   * How much of the detail comes and goes with focus, 0 to 1: (max − min) / (max + 4 noise) of its energy over the planes, in the band where
   * that is largest, above what noise alone reaches. 0 where all planes are alike, whatever their texture.
   */
  readonly evidence: Float32Array;
  /** The plane of the largest energy in that band. */
  readonly sharpest: Uint16Array;
  /** How unlike the detail of neighbouring planes is, 0 to 1, at half of the places: blur fades detail, noise and motion replace it. */
  readonly mismatch: number;
}

export function focusSigns(planes: readonly Plane[]): FocusSigns {
  const { width, height } = planes[0] as Plane;
  const change = new Float32Array(width * height);
  const sharpest = new Uint16Array(width * height);
  const { ranges, details } = measureBands(planes);
  for (const { least, most, at } of ranges) {
    const noise = quantile(least, QUIETEST) + ROUNDING;
    for (let i = 0; i < change.length; i++) {
      const high = most[i] as number;
      const share = (high - (least[i] as number)) / (high + OVER_NOISE * noise);
      if (share <= (change[i] as number)) continue;
      change[i] = share;
      sharpest[i] = at[i] as number;
    }
  }
  const chance = changeByNoise(planes.length);
  const evidence = change.map((share) => Math.max(0, (share - chance) / (1 - chance)));
  return { evidence, sharpest, mismatch: detailMismatch(details) };
}

export const focusEvidence = (planes: readonly Plane[]): Float32Array => focusSigns(planes).evidence;

/**
 * What the change does not exceed in 98 % of the pixels of stacks of pure noise: it grows with the number of planes as the range of that many
 * normal samples does, about √(8 ln N) − 1.1 deviations.
 */
const changeByNoise = (planes: number): number => 0.2 + 0.08 * Math.max(Math.sqrt(8 * Math.log(planes)) - 1.1, 1);

interface EnergyRange {
  readonly least: Float32Array;
  readonly most: Float32Array;
  /** The plane of the largest. */
  readonly at: Uint16Array;
}

/** The side of the cells whose detail is compared between planes, the window of the energies, and how many of them are enough for a median. */
const [CELL, ENOUGH_CELLS] = [2 * WINDOW + 1, 600];

/** Detail below this is none: what blurring a plain area leaves of it by rounding. */
const FAINTEST = 1e-5;

/** Samples of the pixels of a plane's cells, which are spread over it, cell after cell. */
function cellSamples({ width, height }: Size, valueAt: (i: number) => number): Float32Array {
  const columns = Math.floor(width / CELL);
  const cells = columns * Math.floor(height / CELL);
  const stride = Math.max(Math.ceil(cells / ENOUGH_CELLS), 1);
  const samples = new Float32Array(Math.ceil(cells / stride) * CELL * CELL);
  let at = 0;
  for (let cell = 0; cell < cells; cell += stride) {
    const corner = Math.floor(cell / columns) * CELL * width + (cell % columns) * CELL;
    for (let y = 0; y < CELL; y++) for (let x = 0; x < CELL; x++) samples[at++] = valueAt(corner + y * width + x);
  }
  return samples;
}

/**
 * How unlike neighbouring planes are in the detail b_n of a cell, 1 − Σ b_n · b_{n+1} / Σ |b_n| |b_{n+1}|: the median over the cells. 0 where detail is only
 * fainter in one plane than in the next, about 1 where each has its own, as noise is; 1 where there is none.
 */
export function detailMismatch(planes: readonly Float32Array[], cellSize = CELL * CELL): number {
  const cells = Math.floor((planes[0] as Float32Array).length / cellSize);
  const mismatches: number[] = [];
  for (let cell = 0; cell < cells; cell++) {
    const details = planes.map((samples) => samples.subarray(cell * cellSize, (cell + 1) * cellSize));
    const lengths = details.map((detail) => Math.sqrt(product(detail, detail)));
    let [alike, most] = [0, 0];
    for (let n = 1; n < planes.length; n++) {
      alike += product(details[n - 1] as Float32Array, details[n] as Float32Array);
      most += (lengths[n - 1] as number) * (lengths[n] as number);
    }
    if (most > FAINTEST ** 2 * cellSize * (planes.length - 1)) mismatches.push(Math.min(Math.max(1 - alike / most, 0), 1));
  }
  return mismatches.length === 0 ? 1 : quantile(Float32Array.from(mismatches), 0.5);
}

function product(one: Float32Array, two: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i++) sum += (one[i] as number) * (two[i] as number);
  return sum;
}

interface BandMeasures {
  /** Of every band. */
  readonly ranges: readonly EnergyRange[];
  /** Of every plane: samples of the coarser band, in which noise is a smaller part. */
  readonly details: readonly Float32Array[];
}

/** The smallest and largest energy around each pixel, over the planes, of every band, and what the planes show in cells. */
function measureBands(planes: readonly Plane[]): BandMeasures {
  const { width, height } = planes[0] as Plane;
  const details: Float32Array[] = [];
  const pixels = width * height;
  const { kernels, take, view, scoped } = workspace();
  return scoped(() => {
    const ranges = BLURS.slice(1).map(() => ({ least: take(pixels), most: take(pixels), at: take(pixels) }));
    for (const { least, most, at } of ranges) {
      view(least, pixels).fill(Infinity);
      view(most, pixels).fill(0);
      view(at, pixels).fill(0);
    }
    for (const [n, { values }] of planes.entries())
      scoped(() => {
        const sharp = blockOf({ width, height, channels: 1, data: values });
        const blurred = BLURS.map((radius) => (radius === 0 ? sharp : smoothBlock(sharp, radius)));
        const squares = { width, height, channels: 1, address: take(pixels) };
        for (const [band, { least, most, at }] of ranges.entries()) {
          kernels.squaredDifferences(squares.address, (blurred[band] as Block).address, (blurred[band + 1] as Block).address, pixels);
          kernels.extendRange(least, most, at, boxMeanBlock(squares, WINDOW).address, pixels, n);
        }
        const [fine, coarse] = blurred.slice(-2).map(({ address }) => view(address, pixels)) as [Float32Array, Float32Array];
        details.push(cellSamples({ width, height }, (i) => (fine[i] as number) - (coarse[i] as number)));
      });
    const found = ranges.map(({ least, most, at }) => ({
      least: view(least, pixels).slice(),
      most: view(most, pixels).slice(),
      at: Uint16Array.from(new Uint32Array(view(at, pixels).buffer, at, pixels)),
    }));
    return { ranges: found, details };
  });
}

/** Planes compared first, spread over the stack: in most stacks they show enough. */
const COMPARED = 5;

/** Evidence that noise alone does not reach, even enlarged, and the share of the pixels that must have it: a detail of ten pixels across. */
const STRONG = { evidence: 0.5, share: 2e-4 } as const;

/**
 * How far evidence reaches: the window of the energies, the largest blur, which is done twice, and Lanczos' radius in frames that were moved. Of
 * panoramas so thin that little or nothing would be left between two such borders, the middle third is judged.
 */
const REACH = WINDOW + 2 * BLURS[2] + 3;

interface Doubtful {
  /** Of the frames: those that have been moved to be aligned end in repeated pixels. */
  readonly transforms?: readonly Similarity[];
  /** Pixels that are darker than this in some frame are left out. Default: 0. */
  readonly darkest?: number | undefined;
}

/** Says so if no part of the scene is sharper in one frame than in another: depth would be made up. */
export function checkFocusChange(frames: readonly Plane[], { transforms = [], darkest = 0 }: Doubtful = {}): Finding[] {
  const [first] = frames as readonly [Plane];
  const inner = commonArea(transforms.filter(hasMoved), first, Math.min(REACH, Math.floor(Math.min(first.width, first.height) / 3)));
  for (const { values } of darkest > 0 ? frames : [])
    for (let i = 0; i < inner.length; i++) if ((values[i] as number) < darkest) inner[i] = 0;
  const some = choosePlanes(frames.length, Math.min(COMPARED, frames.length)).map((n) => frames[n] as Plane);
  if (showsFocus(some, inner) || (frames.length > some.length && showsFocus(frames, inner))) return [];
  return [
    {
      code: "no-focus-change",
      severity: "warning",
      message: "no focus change found: nothing is sharper in one image than in another, so depth is unknown",
      remedy: "move the focus between the images, and show something with texture",
    },
  ];
}

function showsFocus(frames: readonly Plane[], inner: Uint8Array): boolean {
  const evidence = focusEvidence(frames);
  let [strong, judged] = [0, 0];
  for (let i = 0; i < evidence.length; i++) {
    if (inner[i] === 0) continue;
    judged += 1;
    if ((evidence[i] as number) > STRONG.evidence) strong += 1;
  }
  return strong > 0 && strong >= STRONG.share * judged;
}
