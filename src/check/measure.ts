import { alignImage } from "../align/alignedRows.ts";
import type { Alignment, FrameAlignment } from "../align/alignment.ts";
import { commonArea } from "../align/apply.ts";
import { resized } from "../align/similarity.ts";
import { reduction } from "../align/workingFrame.ts";
import type { Plane } from "../image/boxFilter.ts";
import type { Image } from "../image/image.ts";
import { smallLuminance } from "../image/luminance.ts";
import { BLOCK, blockSharpness, texturedBlocks, type BlockSharpness } from "./sharpness.ts";

/** The sharpness of the frames that could be aligned. */
export interface FocusMeasurement {
  /** The stack's plane for each of the frames. */
  readonly planes: readonly number[];
  /** Luma, aligned, in about the network's working size. */
  readonly frames: readonly Plane[];
  readonly sharpness: BlockSharpness;
  /** The blocks that are textured on some plane and lie inside every frame. */
  readonly textured: readonly number[];
}

/** Sharpness is measured at about the network's working size, some 600×400. */
export const FOCUS_PIXELS = 400_000;

/** Fewer textured blocks are not enough to judge a frame or a stack. */
export const LEAST_BLOCKS = 30;

export function measureFocus(
  images: readonly Image[],
  alignment: Alignment,
  { aligned: placed }: { readonly aligned?: readonly (Image | undefined)[] | undefined } = {},
): FocusMeasurement {
  const planes = alignment.frames.flatMap(({ ok }, n) => (ok ? [n] : []));
  const factor = reduction(alignment, FOCUS_PIXELS);
  const aligned = planes.map((n) => {
    const frame = alignment.frames[n] as FrameAlignment;
    const image = placed?.[n] ?? alignImage(images[n] as Image, frame);
    return { image: smallLuminance(image, factor), transform: resized(frame.transform, 1 / factor) };
  });
  const frames = aligned.map(({ image }) => image);
  const valid = commonArea(aligned.map(({ transform }) => transform), frames[0] as Plane); // prettier-ignore
  const sharpness = blockSharpness(frames);
  const whole = wholeBlocks(valid, frames[0] as Plane, sharpness);
  return { planes, frames, sharpness, textured: texturedBlocks(sharpness).filter((block) => whole[block]) };
}

/** The same measurement for the stack with its planes in this order. */
export function inPlaneOrder(measured: FocusMeasurement, order: readonly number[]): FocusMeasurement {
  const kept = order.flatMap((plane, place) => (measured.planes.includes(plane) ? [{ at: measured.planes.indexOf(plane), place }] : []));
  const pick = <T>(list: readonly T[]): T[] => kept.map(({ at }) => list[at] as T);
  const { fine, coarse, ...rest } = measured.sharpness;
  return {
    planes: kept.map(({ place }) => place),
    frames: pick(measured.frames),
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
