import type { ColorMap } from "../../../src/output/colorMap.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { validRange } from "../../../src/output/result.ts";
import { doubtfulPixels, LEAST_CONFIDENCE } from "../../../src/output/trust.ts";
import { WHOLE, type Viewport } from "./viewport.ts";

/** How the result is looked at: the same in all tabs, in saved pictures and in exported models. */
export interface Look {
  readonly viewport: Viewport;
  readonly map: ColorMap;
  /** Exchanges the colours of near and far. */
  readonly flip: boolean;
  /** Depths of the first and last colour. Default: those of the result. */
  readonly range: readonly [number, number] | undefined;
  /** In saved and copied pictures. */
  readonly legend: boolean;
  /** Depth of less confidence is hatched, and left out of 3-D and of models. */
  readonly leastConfidence: number;
  /** Depth that was carried in from around is hatched, too. */
  readonly hatchFilled: boolean;
}

export const FIRST_LOOK: Look = {
  viewport: WHOLE,
  map: "turbo",
  flip: false,
  range: undefined,
  legend: true,
  leastConfidence: LEAST_CONFIDENCE,
  hatchFilled: true,
};

/** The pixels to hatch: not vouched for, or filled. */
export function hatchedPixels(
  result: DepthResult,
  { leastConfidence, hatchFilled }: Pick<Look, "leastConfidence" | "hatchFilled">,
): Uint8Array {
  const doubtful = doubtfulPixels(result, leastConfidence);
  const { filled } = result;
  return filled && hatchFilled ? doubtful.map((is, pixel) => is | (filled[pixel] as number)) : doubtful;
}

export const MAP_NAMES: readonly (readonly [ColorMap, string])[] = [
  ["turbo", "Turbo: red is near"],
  ["viridis", "Viridis: yellow is near"],
  ["grey", "Grey: dark is near"],
  ["near-white", "Grey: white is near"],
];

/** The range of all depths, which the legend spans. */
export const fullRange = (result: DepthResult): readonly [number, number] => result.range ?? validRange(result.depth);

/** Least share of the full range that the colours may span. */
const NARROWEST = 0.01;

/** The range with one end moved to a share of the full range; the ends keep their order and some distance. */
export function withEnd(
  range: readonly [number, number],
  { end, share, full: [least, greatest] }: { end: 0 | 1; share: number; full: readonly [number, number] },
): readonly [number, number] {
  const span = greatest - least;
  const gap = NARROWEST * span;
  const value = least + Math.min(Math.max(share, 0), 1) * span;
  return end === 0
    ? [Math.min(value, Math.max(range[1] - gap, least)), range[1]]
    : [range[0], Math.max(value, Math.min(range[0] + gap, greatest))];
}

/** The limits on offer: confidence 1 / (1 + (2 e)²) for an expected error of e planes (docs/confidence.md). */
export const CONFIDENCE_CHOICES: readonly (readonly [number, string])[] = [
  [0, "any error"],
  [1 / 17, "2 planes"],
  [LEAST_CONFIDENCE, "1 plane"],
  [0.5, "½ plane"],
  [0.8, "¼ plane"],
];

/** What a share of the picture is called: at least 1 % where there is any. */
export const percentText = (share: number): string =>
  share === 0 ? "0 %" : share < 0.01 ? "less than 1 %" : `${Math.round(100 * share)} %`;
