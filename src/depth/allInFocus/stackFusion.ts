import { hasMoved, withAlignedRows } from "../../align/alignedRows.ts";
import type { FrameAlignment } from "../../align/alignment.ts";
import { linearOf, type Similarity } from "../../align/similarity.ts";
import type { Image, Size, StoredImage } from "../../image/image.ts";
import { imageRows } from "../../image/rows.ts";
import { workspace } from "../../image/simd/workspace.ts";
import type { FocusProbability } from "../../network/focusProbability.ts";
import { addPlane, collapsed, createLevels, type AddedPlane, type Coverage, type FusionOptions, type Level, type Shape } from "./fusion.ts";
import { planePrior } from "./prior.ts";

/** A frame of the stack as it is read, and how it is aligned. */
export interface Frame {
  readonly image: Image | StoredImage;
  /** In pixels of the image; absent if the stack is not aligned. */
  readonly alignment?: FrameAlignment | undefined;
  /** Whether the others are aligned to it. */
  readonly isReference: boolean;
}

/** The all-in-focus image of a stack, to which its frames are added in turn. */
export interface StackFusion {
  /** Adds the frame of a plane, once; one at a time. */
  add(frame: Frame, plane: number): Promise<void>;
  /** The result, in [0, 1]; nothing can be added afterwards. */
  finish(): Promise<Image>;
  /** Must be called in the end, also after a failure. */
  close(): Promise<void>;
}

export interface CreateStackFusion {
  (shape: Shape, probability: FocusProbability, options: FusionOptions): StackFusion;
  /** How to compute the image if the device of this way reaches a limit (`DeviceLimitError`): its memory, or an operation that it does not have. */
  readonly otherwise?: CreateStackFusion;
}

/** Computed in the calling thread. */
export const createStackFusion: CreateStackFusion = (shape, probability, options) => {
  const prior = planePrior(probability, options);
  const levels = createLevels(shape);
  return {
    add: async (frame, plane) => {
      addFrame(levels, frame, { maps: prior.maps(plane) });
      return Promise.resolve();
    },
    finish: () => Promise.resolve(collapsed(levels)),
    close: () => Promise.resolve(),
  };
};

/** Adds a frame to the pyramid of the result. */
export function addFrame(
  levels: readonly Level[],
  { image, alignment, isReference }: Frame,
  added: Pick<AddedPlane, "maps" | "nextTile">,
): void {
  if (!alignment)
    workspace().scoped(() => {
      addPlane(levels, imageRows(image), added);
    });
  else
    withAlignedRows(image, alignment, (rows) => {
      addPlane(levels, rows, { ...added, coverage: coverage(alignment.transform, image, isReference) });
    });
}

/** What an aligned frame covers. Beyond its edge the outermost pixels are repeated: that is not an image. */
function coverage(transform: Similarity, { width, height }: Size, isReserve: boolean): Coverage {
  if (!hasMoved(transform)) return { isReserve, covers: () => true };
  const t = linearOf(transform);
  return {
    isReserve,
    covers: (column, row, margin) => {
      const x = column - (width - 1) / 2;
      const y = row - (height - 1) / 2;
      return Math.abs(t.a * x - t.b * y + t.x) <= width / 2 - margin && Math.abs(t.b * x + t.a * y + t.y) <= height / 2 - margin;
    },
  };
}
