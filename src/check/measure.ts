import { alignImage } from "../align/alignedRows.ts";
import type { Alignment, FrameAlignment } from "../align/alignment.ts";
import { commonArea } from "../align/apply.ts";
import { resized, type Similarity } from "../align/similarity.ts";
import { reduction } from "../align/workingFrame.ts";
import type { Plane } from "../image/boxFilter.ts";
import type { Image } from "../image/image.ts";
import { smallLuminance } from "../image/luminance.ts";
import { withoutBrighter, type RecordedRange } from "./recordedRange.ts";
import { BLOCK, blockSharpness, texturedBlocks, type BlockSharpness } from "./sharpness.ts";

/** The frames that could be aligned. */
export interface AlignedFrames {
  /** The stack's plane for each of the frames. */
  readonly planes: readonly number[];
  /** Luma, aligned. */
  readonly frames: readonly Plane[];
  /** From points of the reference to points of each frame before its alignment. */
  readonly transforms: readonly Similarity[];
}

/** Their sharpness, in about the network's working size. */
export interface FocusMeasurement extends AlignedFrames {
  readonly sharpness: BlockSharpness;
  /** The blocks that are textured on some plane and lie inside every frame. */
  readonly textured: readonly number[];
}

/** Sharpness is measured at about the network's working size, some 600×400. */
export const FOCUS_PIXELS = 400_000;

/** Fewer textured blocks are not enough to judge a frame or a stack. */
export const LEAST_BLOCKS = 30;

interface Placed {
  /** The images as the alignment places them, where they have been computed already. */
  readonly aligned?: readonly (Image | undefined)[] | undefined;
}

export function measureFocus(images: readonly Image[], alignment: Alignment, placed: Placed = {}): FocusMeasurement {
  const aligned = alignedFrames(images, alignment, { ...placed, pixels: FOCUS_PIXELS });
  const { frames, transforms } = aligned;
  const sharpness = blockSharpness(frames);
  const whole = wholeBlocks(commonArea(transforms, frames[0] as Plane), frames[0] as Plane, sharpness);
  return { ...aligned, sharpness, textured: texturedBlocks(sharpness).filter((block) => whole[block]) };
}

/** The frames that can be aligned, reduced to at most about `pixels`, without what is brighter than the range. */
export function alignedFrames(
  images: readonly Image[],
  alignment: Alignment,
  { aligned, pixels, range }: Placed & { readonly pixels: number; readonly range?: RecordedRange | undefined },
): AlignedFrames {
  const planes = alignment.frames.flatMap(({ ok }, n) => (ok ? [n] : []));
  const factor = reduction(alignment, pixels);
  const at = (n: number): FrameAlignment => alignment.frames[n] as FrameAlignment;
  const placed = (n: number): Image => aligned?.[n] ?? alignImage(images[n] as Image, at(n));
  return {
    planes,
    frames: planes.map((n) => smallLuminance(range ? withoutBrighter(placed(n), range) : placed(n), factor)),
    transforms: planes.map((n) => resized(at(n).transform, 1 / factor)),
  };
}

/** The same measurement for the stack with its planes in this order. */
export function inPlaneOrder(measured: FocusMeasurement, order: readonly number[]): FocusMeasurement {
  const kept = order.flatMap((plane, place) => (measured.planes.includes(plane) ? [{ at: measured.planes.indexOf(plane), place }] : []));
  const pick = <T>(list: readonly T[]): T[] => kept.map(({ at }) => list[at] as T);
  const { fine, coarse, ...rest } = measured.sharpness;
  return {
    planes: kept.map(({ place }) => place),
    frames: pick(measured.frames),
    transforms: pick(measured.transforms),
    sharpness: { ...rest, fine: pick(fine), coarse: pick(coarse) },
    textured: measured.textured,
  };
}

/** The blocks that lie entirely inside every frame. */
function wholeBlocks(valid: Uint8Array, { width }: Plane, { columns, rows }: BlockSharpness): boolean[] {
  const whole = Array.from({ length: columns * rows }, () => true);
  for (let y = 0; y < rows * BLOCK; y++)
    for (let x = 0; x < columns * BLOCK; x++)
      if (valid[y * width + x] === 0) whole[Math.floor(y / BLOCK) * columns + Math.floor(x / BLOCK)] = false;
  return whole;
}
