import type { Image } from "../image/image.ts";
import { type FocalStack, focalStack } from "../stack/focalStack.ts";
import { DualFocusError } from "../errors.ts";
import { type Alignment, checkFits, type FrameAlignment } from "./alignment.ts";
import { alignImage } from "./alignedRows.ts";
import { commonArea } from "./apply.ts";
import { estimateAlignment, type EstimateOptions } from "./estimate.ts";
import type { Similarity } from "./similarity.ts";
import { workingFrame } from "./workingFrame.ts";

export interface AlignOptions extends Pick<EstimateOptions, "focalLength" | "reference" | "signal" | "onProgress"> {
  /** An alignment to use instead of estimating one, for instance from a stack of the same series. */
  readonly alignment?: Alignment;
  /** The images as this alignment places them, with the exposure of the reference, where they have been computed already. */
  readonly aligned?: readonly (Image | undefined)[] | undefined;
  /** One name per plane, used in messages. Default: "plane 0" and so on. */
  readonly files?: readonly string[];
  /** Whether to correct differences in exposure. Default: true. */
  readonly equalizeExposure?: boolean;
}

export interface AlignedStack {
  /** The frames that could be aligned; those that had moved are resampled. */
  readonly stack: FocalStack;
  /** The planes of the input that these are. */
  readonly planes: readonly number[];
  /** 1 where all of them overlap, row by row. */
  readonly valid: Uint8Array;
  /** One per plane of the input, from points of the reference to points of the frame. */
  readonly transforms: readonly Similarity[];
  /** One per plane of the input, with the reason if it could not be aligned. */
  readonly report: readonly FrameAlignment[];
  /** The alignment to save: `formatAlignment` writes it, `alignStack` accepts it. */
  readonly alignment: Alignment;
}

/**
 * Aligns the frames of a stack: corrects focus breathing, camera shift and rotation, and exposure. Frames that have not moved are not
 * resampled. Frames that cannot be aligned are left out and reported; fewer than two remaining frames are an error.
 */
export async function alignStack(stack: FocalStack, options: AlignOptions = {}): Promise<AlignedStack> {
  const { images, focusDistances, space } = focalStack(stack);
  const { width, height, channels } = images[0] as Image;
  const { equalizeExposure = true, alignment: given, aligned, files, ...rest } = options;
  if (given) checkFits(given, { planes: images.length, width, height, channels });
  const alignment = given ?? (await estimateAlignment(images.map((image) => workingFrame(image)), { focusDistances, space, ...rest })); // prettier-ignore
  const planes = usablePlanes(alignment, files);
  const frames = planes.map((n) => alignment.frames[n] as FrameAlignment);
  const pictures = planes.map(
    (n) => aligned?.[n] ?? alignImage(images[n] as Image, alignment.frames[n] as FrameAlignment, { equalizeExposure }),
  );
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
function usablePlanes({ frames }: Alignment, files?: readonly string[]): number[] {
  const planes = frames.flatMap(({ ok }, n) => (ok ? [n] : []));
  if (planes.length >= 2) return planes;
  const reasons = frames.flatMap(({ reason }, n) => (reason === undefined ? [] : [`${files?.[n] ?? `plane ${n}`}: ${reason}`]));
  const facts = { aligned: planes.length, frames: frames.length };
  throw new DualFocusError("too-few-aligned", `only ${planes.length} of ${frames.length} frames could be aligned; ${reasons.join("; ")}`, {
    facts,
  });
}
