import { z } from "zod";
import type { Gain } from "./exposure.ts";
import type { Size } from "../image/image.ts";
import { resized, type Similarity, similaritySchema } from "./similarity.ts";

/** How one frame lies to the reference. */
export interface FrameAlignment {
  /** From points of the reference to points of this frame, full pixels. */
  readonly transform: Similarity;
  /** Factor on linear light per channel that brings the frame to the reference's exposure. */
  readonly gain: Gain;
  /** Motion left after alignment to its neighbours, full pixels; absent where nothing could be measured. */
  readonly residual?: number;
  /** False if the frame could not be aligned; it is then left out, and `reason` says why. */
  readonly ok: boolean;
  readonly reason?: string;
}

/** How the frames of a stack lie to one another: plain data, to save, read back and use again. */
export interface Alignment {
  readonly width: number;
  readonly height: number;
  /** The frame that stays as it is. */
  readonly reference: number;
  readonly frames: readonly FrameAlignment[];
}

/** Too few frames could be aligned, or an alignment does not fit the stack it was given for. */
export class AlignmentError extends Error {
  override readonly name = "AlignmentError";
}

const alignmentSchema = z
  .strictObject({
    version: z.literal(1),
    width: z.int().positive(),
    height: z.int().positive(),
    reference: z.int().min(0),
    frames: z
      .array(
        z.strictObject({
          transform: similaritySchema,
          gain: z.array(z.number().positive()).min(1).max(3),
          residual: z.number().min(0).optional(),
          ok: z.boolean(),
          reason: z.string().optional(),
        }),
      )
      .min(1),
  })
  .refine(({ reference, frames }) => reference < frames.length, "reference must be one of the frames");

export const formatAlignment = (alignment: Alignment): string => `${JSON.stringify({ version: 1, ...alignment }, undefined, 1)}\n`;

/** Reads what `formatAlignment` wrote; `where` names the file in the error. */
export function parseAlignment(text: string, where = "alignment"): Alignment {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AlignmentError(`${where}: not JSON (${cause instanceof Error ? cause.message : String(cause)})`, { cause });
  }
  const parsed = alignmentSchema.safeParse(value);
  if (!parsed.success) throw new AlignmentError(`${where}: not a saved alignment: ${z.prettifyError(parsed.error).replaceAll("\n", " ")}`);
  const { width, height, reference, frames } = parsed.data;
  return { width, height, reference, frames: frames as FrameAlignment[] };
}

/** An alignment is pixels of one size and planes of one number. */
export function checkFits(alignment: Alignment, stack: Size & { readonly planes: number }): void {
  const { width, height, frames } = alignment;
  if (width !== stack.width || height !== stack.height || frames.length !== stack.planes)
    throw new AlignmentError(
      `the alignment is for ${frames.length} planes of ${width}×${height}, the stack has ${stack.planes} of ${stack.width}×${stack.height}`,
    );
}

/** The same alignment for the same pictures in another size, for instance one estimated on small copies, for the originals. */
export function resizeAlignment(alignment: Alignment, { width, height }: Size): Alignment {
  const factor = width / alignment.width;
  const frames = alignment.frames.map((frame) => ({
    ...frame,
    transform: resized(frame.transform, factor),
    ...(frame.residual === undefined ? {} : { residual: frame.residual * factor }),
  }));
  return { ...alignment, width, height, frames };
}
