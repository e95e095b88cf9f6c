import type { Alignment, FrameAlignment } from "../align/alignment.ts";
import type { FocusMeasurement } from "./measure.ts";
import { peakOf, ratioAt } from "./sharpness.ts";

/** One sign of which end of a stack is nearer to the camera. */
export interface DirectionCue {
  readonly cue: "breathing" | "layout";
  /** The end that it says is the nearest. */
  readonly nearest: "first" | "last";
  /** How often it is right. */
  readonly reliability: number;
  /** In words, "it" being the nearest frame. */
  readonly text: string;
}

/**
 * A lens that moves as a whole magnifies when it focuses nearer. Some lenses that focus internally do the opposite, and so does a camera
 * that is moved on a rail: hence never a certainty.
 */
const BREATHING_RELIABILITY = 0.85;
/** Total change of scale, and its correlation with the order of the frames; a hand-held camera changes its distance at random. */
const BREATHING = { change: 0.004, correlation: 0.9 } as const;

/**
 * Most scenes seen by an upright camera are nearer at the bottom: of 100 images of NYU Depth v2, all 71 in which the row and the inverse
 * depth correlate by 0.3 or more. Macro shots, still lifes, views from above and microscopes follow no such rule: of eight stacks of such
 * scenes with a correlation that large, five.
 */
const LAYOUT = [
  { correlation: 0.5, reliability: 0.65 },
  { correlation: 0.3, reliability: 0.6 },
] as const;
const LAYOUT_BLOCKS = 40;
/** A block counts if it is this sharp where it is sharpest. */
const SHARP_RATIO = 0.1;

/** The signs of the direction in an aligned stack whose frames are in focus order. */
export function directionCues(measured: FocusMeasurement, alignment: Alignment): DirectionCue[] {
  return [...breathingCue(measured, alignment), ...layoutCue(measured)];
}

/** The probability that the first frame is the nearest, the signs taken as independent. */
export function firstIsNearest(cues: readonly DirectionCue[]): number {
  const odds = cues.reduce((product, { nearest, reliability }) => {
    const ratio = reliability / (1 - reliability);
    return nearest === "first" ? product * ratio : product / ratio;
  }, 1);
  return odds / (1 + odds);
}

/** Natural logarithm of the scale of each frame. */
export const logScales = ({ planes }: FocusMeasurement, { frames }: Alignment): number[] =>
  planes.map((plane) => Math.log((frames[plane] as FrameAlignment).transform.scale));

/** Change of scale from end to end if it goes steadily with the frames' order, else 0; positive if the scene appears larger at the end. */
export function steadyBreathing(scales: readonly number[]): number {
  const change = Math.max(...scales) - Math.min(...scales);
  const steady = correlation(scales.map((_, n) => n), scales); // prettier-ignore
  return change >= BREATHING.change && Math.abs(steady) >= BREATHING.correlation ? Math.sign(steady) * change : 0;
}

function breathingCue(measured: FocusMeasurement, alignment: Alignment): DirectionCue[] {
  const change = steadyBreathing(logScales(measured, alignment));
  if (change === 0) return [];
  const percent = (100 * Math.expm1(Math.abs(change))).toFixed(1);
  return [
    {
      cue: "breathing",
      nearest: change < 0 ? "first" : "last",
      reliability: BREATHING_RELIABILITY,
      text: `the scene appears ${percent} % larger in it than at the other end (focus breathing)`,
    },
  ];
}

function layoutCue({ sharpness, textured }: FocusMeasurement): DirectionCue[] {
  const blocks = textured
    .map((block) => ({ block, peak: peakOf(sharpness, block) }))
    .filter(({ block, peak }) => ratioAt(sharpness, block, peak) > SHARP_RATIO);
  if (blocks.length < LAYOUT_BLOCKS) return [];
  const towardsTop = correlation(blocks.map(({ block }) => -Math.floor(block / sharpness.columns)), blocks.map(({ peak }) => peak)); // prettier-ignore
  const found = LAYOUT.find(({ correlation: least }) => Math.abs(towardsTop) >= least);
  if (!found) return [];
  return [
    {
      cue: "layout",
      nearest: towardsTop > 0 ? "first" : "last",
      reliability: found.reliability,
      text: "the lower part of the image is sharp in it and the upper part at the other end",
    },
  ];
}

/** Pearson's; 0 if one of the two does not vary. */
function correlation(one: readonly number[], other: readonly number[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [p, q] = [mean(one), mean(other)];
  let [product, first, second] = [0, 0, 0];
  one.forEach((value, i) => {
    const [a, b] = [value - p, (other[i] as number) - q];
    product += a * b;
    first += a * a;
    second += b * b;
  });
  return first > 0 && second > 0 ? product / Math.sqrt(first * second) : 0;
}
