import { boxMeanBlock, smoothBlock, type Plane } from "../image/boxFilter.ts";
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
}

export function focusSigns(planes: readonly Plane[]): FocusSigns {
  const { width, height } = planes[0] as Plane;
  const change = new Float32Array(width * height);
  const sharpest = new Uint16Array(width * height);
  for (const { least, most, at } of energyRanges(planes)) {
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
  return { evidence: change.map((share) => Math.max(0, (share - chance) / (1 - chance))), sharpest };
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

/** The smallest and largest energy around each pixel, over the planes, of every band. */
function energyRanges(planes: readonly Plane[]): EnergyRange[] {
  const { width, height } = planes[0] as Plane;
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
      });
    return ranges.map(({ least, most, at }) => ({
      least: view(least, pixels).slice(),
      most: view(most, pixels).slice(),
      at: Uint16Array.from(new Uint32Array(view(at, pixels).buffer, at, pixels)),
    }));
  });
}

/** Planes compared first, spread over the stack: in most stacks they show enough. */
const COMPARED = 5;

/** Evidence that noise alone does not reach, even enlarged, and the share of the pixels that must have it: a detail of ten pixels across. */
const STRONG = { evidence: 0.5, share: 2e-4 } as const;

/** Says so if no part of the scene is sharper in one frame than in another: depth would be made up. */
export function checkFocusChange(frames: readonly Plane[]): Finding[] {
  const some = choosePlanes(frames.length, Math.min(COMPARED, frames.length)).map((n) => frames[n] as Plane);
  if (showsFocus(some) || (frames.length > some.length && showsFocus(frames))) return [];
  return [
    {
      code: "no-focus-change",
      severity: "warning",
      message: "no focus change found: nothing is sharper in one image than in another, so their depth means nothing",
      remedy: "move the focus between the images, and show something with texture",
    },
  ];
}

function showsFocus(frames: readonly Plane[]): boolean {
  const evidence = focusEvidence(frames);
  const strong = evidence.reduce((count, value) => (value > STRONG.evidence ? count + 1 : count), 0);
  return strong >= STRONG.share * evidence.length;
}
