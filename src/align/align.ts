import type { Image } from "../image/image.ts";
import { type FocalStack, focalStack } from "../stack/focalStack.ts";
import { type Alignment, AlignmentError, checkFits, type FrameAlignment } from "./alignment.ts";
import { commonArea, warpedRows, warpImage } from "./apply.ts";
import { estimateAlignment, type EstimateOptions } from "./estimate.ts";
import { applyGain, gainRows } from "./exposure.ts";
import { imageRows, type PictureRows } from "../image/rows.ts";
import type { Similarity } from "./similarity.ts";
import { workingFrame } from "./workingFrame.ts";

export interface AlignOptions extends Pick<EstimateOptions, "focalLength" | "reference" | "signal" | "onProgress"> {
  /** Use this instead of estimating, for instance one saved from a stack of the same series. */
  readonly alignment?: Alignment;
  /** False leaves the brightness of the frames as it is. */
  readonly equalizeExposure?: boolean;
}

export interface AlignedStack {
  /** The frames that could be aligned, resampled where they had moved. */
  readonly stack: FocalStack;
  /** Which planes of the input these are. */
  readonly planes: readonly number[];
  /** 1 where all of them have a picture, row by row. */
  readonly valid: Uint8Array;
  /** One per plane of the input: from points of the reference to points of the frame. */
  readonly transforms: readonly Similarity[];
  /** One per plane of the input; a frame that could not be aligned says why. */
  readonly report: readonly FrameAlignment[];
  /** All of the above that is worth saving: `formatAlignment` writes it, `alignStack` takes it back. */
  readonly alignment: Alignment;
}

/**
 * Brings the frames of a stack onto one another: focus breathing, drift and turn of the camera, and exposure. Frames that have not moved
 * are not touched. Frames that cannot be aligned are left out and reported; fewer than two left is an AlignmentError.
 */
export async function alignStack(stack: FocalStack, options: AlignOptions = {}): Promise<AlignedStack> {
  const { images, focusDistances, space } = focalStack(stack);
  const { width, height } = images[0] as Image;
  const { equalizeExposure = true, alignment: given, ...rest } = options;
  if (given) checkFits(given, { planes: images.length, width, height });
  const alignment = given ?? (await estimateAlignment(images.map((image) => workingFrame(image)), { focusDistances, space, ...rest })); // prettier-ignore
  const planes = usablePlanes(alignment);
  const frames = planes.map((n) => alignment.frames[n] as FrameAlignment);
  const pictures = planes.map((n) => alignImage(images[n] as Image, alignment.frames[n] as FrameAlignment, { equalizeExposure }));
  return {
    stack: focalStack({ images: pictures, focusDistances: planes.map((n) => focusDistances[n] as number), space }),
    planes,
    valid: commonArea(frames.map(({ transform }) => transform), { width, height }), // prettier-ignore
    transforms: alignment.frames.map(({ transform }) => transform),
    report: alignment.frames,
    alignment,
  };
}

/** The planes that could be aligned. */
export function usablePlanes({ frames }: Alignment): number[] {
  const planes = frames.flatMap(({ ok }, n) => (ok ? [n] : []));
  if (planes.length >= 2) return planes;
  const reasons = frames.flatMap(({ reason }, n) => (reason === undefined ? [] : [`plane ${n}: ${reason}`]));
  throw new AlignmentError(`only ${planes.length} of ${frames.length} frames could be aligned; ${reasons.join("; ")}`);
}

/** One frame, brought onto the reference; the very same picture if it has neither moved nor changed brightness. */
export function alignImage(image: Image, { transform, gain }: FrameAlignment, { equalizeExposure = true } = {}): Image {
  const placed = hasMoved(transform) ? warpImage(image, transform) : image;
  return equalizeExposure && hasGain(gain) ? applyGain(placed, gain) : placed;
}

/** The same row by row, for pictures of which only parts are needed. */
export function alignedRows(image: Image, { transform, gain }: FrameAlignment): PictureRows {
  const placed = hasMoved(transform) ? warpedRows(image, transform) : imageRows(image);
  return hasGain(gain) ? gainRows(placed, image, gain) : placed;
}

const hasMoved = ({ scale, angle, shift }: Similarity): boolean => scale !== 1 || angle !== 0 || shift[0] !== 0 || shift[1] !== 0;

const hasGain = (gain: FrameAlignment["gain"]): boolean => gain.some((channel) => channel !== 1);
