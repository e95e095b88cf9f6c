import type { DepthMap } from "../../image/depthMap.ts";
import type { Image } from "../../image/image.ts";
import type { Random } from "../../random.ts";
import { selectPlanes } from "../../stack/focalStack.ts";
import { adjustImage } from "./adjust.ts";

import type { Window } from "../../image/crop.ts";
import { cropSample, type Sample } from "../../data/dataset.ts";
import { flipSample, maskToFocusRange, mirrorPlanes, transposeSample } from "./flip.ts";
import { warpImage } from "../../image/warp.ts";

/** What left out is not done. Every range is drawn evenly. */
export interface AugmentOptions {
  /** Side of a square crop, in pixels (the paper: 224). */
  readonly crop?: number;
  /** Share of valid pixels a crop should have (DFV on DDFF: 0.8); after twenty tries the best one is taken. */
  readonly validShare?: number;
  /** So many planes, drawn without repeating and kept in order. */
  readonly planes?: number;
  /** Left-right and up-down, half the time each. */
  readonly flip?: boolean;
  /** Rows and columns change places, half the time. */
  readonly transpose?: boolean;
  /** Near and far change places, half the time: the network must not take the plane number for depth. */
  readonly mirrorPlanes?: boolean;
  /** Largest change of each colour's gain, as a share; the same for all planes (white balance). */
  readonly colour?: number;
  /** Largest exponent of the gamma change; the exponent is drawn evenly in log between 1/gamma and gamma. */
  readonly gamma?: number;
  /** Largest change of a plane's own exposure, as a share. */
  readonly exposure?: number;
  /** Largest standard deviation of the noise, in units of the picture's range. */
  readonly noise?: number;
  /** What is left after alignment, for each plane: standard deviations of shift (pixels), scale (share) and turn (radians). */
  readonly misalignment?: { readonly shift: number; readonly scale: number; readonly turn: number };
  /** Only pixels whose depth lies between the first and last focus distance count (DFV trains so). */
  readonly focusRangeOnly?: boolean;
}

const CROP_TRIES = 20;

/** Training augmentation (§4.1 and more, see `AugmentOptions`), the same geometry for every plane and the depth. Pure: `random` decides all. */
export function augment(sample: Sample, options: AugmentOptions, random: Random): Sample {
  const steps: ((current: Sample) => Sample)[] = [
    (s) => (options.planes === undefined ? s : drawPlanes(s, options.planes, random.split("planes"))),
    (s) => (options.crop === undefined ? s : cropSample(s, drawWindow(s.trueDepth, options, random))),
    (s) => (options.flip ? flipRandomly(s, drawFlips(random)) : s),
    (s) => (options.transpose && coin(random.split("transpose")) ? transposeSample(s) : s),
    (s) => (options.mirrorPlanes && coin(random.split("mirror")) ? mirrorPlanes(s) : s),
    (s) => misalign(s, options, random.split("misalignment")),
    (s) => adjust(s, options, random.split("adjust")),
    (s) => (options.focusRangeOnly ? maskToFocusRange(s) : s),
  ];
  return steps.reduce((current, step) => step(current), sample);
}

const coin = (random: Random): boolean => random.uniform() < 0.5;
const between = (random: Random, low: number, high: number): number => low + (high - low) * random.uniform();
const mapImages = (sample: Sample, change: (image: Image, plane: number) => Image): Sample => ({
  ...sample,
  stack: { ...sample.stack, images: sample.stack.images.map(change) },
});

/** `count` of the planes, each set of them as likely as any other (Floyd's draw), in order. */
export function drawPlanes(sample: Sample, count: number, random: Random): Sample {
  const total = sample.stack.images.length;
  if (!(Number.isInteger(count) && count >= 1 && count <= total))
    throw new RangeError(`augment: cannot draw ${count} planes of ${total} (${sample.name})`);
  const drawn = new Set<number>();
  for (let top = total - count; top < total; top++) {
    const candidate = random.integer(top + 1);
    drawn.add(drawn.has(candidate) ? top : candidate);
  }
  const inOrder = [...drawn].sort((a, b) => a - b);
  return { ...sample, stack: selectPlanes(sample.stack, inOrder) };
}

/** The window `augment` would crop to with this randomness, for those who crop before they read. */
export function drawWindow(
  truth: Pick<DepthMap, "width" | "height" | "valid">,
  { crop: size = 0, validShare = 0 }: AugmentOptions,
  sampleRandom: Random,
): Window {
  const random = sampleRandom.split("crop");
  const { width, height } = truth;
  if (size > width || size > height) throw new RangeError(`augment: a crop of ${size} does not fit ${width}×${height}`);
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

/** The flips `augment` would make with this randomness. */
export function drawFlips(sampleRandom: Random): { readonly columns: boolean; readonly rows: boolean } {
  const random = sampleRandom.split("flip");
  return { columns: coin(random), rows: coin(random) };
}

function flipRandomly(sample: Sample, { columns, rows }: ReturnType<typeof drawFlips>): Sample {
  const flipped = columns ? flipSample(sample, "columns") : sample;
  return rows ? flipSample(flipped, "rows") : flipped;
}

function misalign(sample: Sample, { misalignment }: AugmentOptions, random: Random): Sample {
  if (!misalignment) return sample;
  const { shift, scale, turn } = misalignment;
  return mapImages(sample, (image) =>
    warpImage(image, {
      across: shift * random.normal(),
      down: shift * random.normal(),
      scale: 1 + scale * random.normal(),
      turn: turn * random.normal(),
    }),
  );
}

function adjust(sample: Sample, { colour = 0, gamma = 1, exposure = 0, noise = 0 }: AugmentOptions, random: Random): Sample {
  if (colour === 0 && gamma === 1 && exposure === 0 && noise === 0) return sample;
  const gains = [0, 1, 2].map(() => 1 + between(random, -colour, colour));
  const exponent = gamma ** between(random, -1, 1);
  const deviation = between(random, 0, noise);
  return mapImages(sample, (image, plane) => {
    const brightness = 1 + between(random, -exposure, exposure);
    const settings = { gains: gains.map((gain) => gain * brightness), exponent, noise: deviation };
    return adjustImage(image, settings, random.split(plane));
  });
}
