import type { Window } from "../../image/crop.ts";
import type { DepthMap } from "../../image/depthMap.ts";
import type { Random } from "../../random.ts";

export interface CropOptions {
  /** Side of the square, in pixels (the paper: 224). */
  readonly crop: number;
  /** Share of valid pixels a crop should have (DFV on DDFF: 0.8); after twenty tries the best one is taken. */
  readonly validShare?: number;
}

const CROP_TRIES = 20;

/** A crop of §4.1: anywhere in the image, with enough known depth. */
export function drawWindow(
  truth: Pick<DepthMap, "width" | "height" | "valid">,
  { crop: size, validShare = 0 }: CropOptions,
  sampleRandom: Random,
): Window {
  const random = sampleRandom.split("crop");
  const { width, height } = truth;
  if (size > width || size > height) throw new RangeError(`a crop of ${size} does not fit ${width}×${height}`);
  const draw = (): Window => ({
    left: random.integer(width - size + 1),
    top: random.integer(height - size + 1),
    width: size,
    height: size,
  });
  let best = draw();
  let bestShare = validShare > 0 ? shareValid(truth, best) : 1;
  for (let tries = 1; bestShare < validShare && tries < CROP_TRIES; tries++) {
    const window = draw();
    const share = shareValid(truth, window);
    if (share > bestShare) [best, bestShare] = [window, share];
  }
  return best;
}

function shareValid(truth: Pick<DepthMap, "width" | "valid">, { left, top, width, height }: Window): number {
  let count = 0;
  for (let y = top; y < top + height; y++) for (let x = left; x < left + width; x++) count += truth.valid[y * truth.width + x] as number;
  return count / (width * height);
}

/** Left-right and up-down, half the time each. */
export function drawFlips(sampleRandom: Random): { readonly columns: boolean; readonly rows: boolean } {
  const random = sampleRandom.split("flip");
  return { columns: random.uniform() < 0.5, rows: random.uniform() < 0.5 };
}
