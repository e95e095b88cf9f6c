import { z } from "zod";

import { describeIssues, DualFocusError } from "../errors.ts";
import type { Gain } from "./exposure.ts";
import type { Image, Size } from "../image/image.ts";
import { resized, type Similarity } from "./similarity.ts";

/** The alignment of one frame to the reference. */
export interface FrameAlignment {
  /** From points of the reference to points of this frame, in full-size pixels. */
  readonly transform: Similarity;
  /** Factor on linear light per channel that brings the frame to the reference's exposure. */
  readonly gain: Gain;
  /** Motion that remains relative to its neighbours, in full-size pixels; absent if it could not be measured. */
  readonly residual?: number;
  /** False if the frame could not be aligned and is left out; `reason` says why. */
  readonly ok: boolean;
  readonly reason?: string;
}

/** The alignment of a stack: plain data that can be saved and used again. */
export interface Alignment {
  readonly width: number;
  readonly height: number;
  /** The frame that is not moved. */
  readonly reference: number;
  readonly frames: readonly FrameAlignment[];
}

const similaritySchema = z.strictObject({
  scale: z.number().positive(),
  angle: z.number(),
  shift: z.tuple([z.number(), z.number()]),
});

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
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DualFocusError("bad-alignment-file", `${where}: not JSON (${reason})`, { facts: { file: where }, cause });
  }
  const parsed = alignmentSchema.safeParse(value);
  if (!parsed.success) {
    const reason = describeIssues(z.prettifyError(parsed.error));
    throw new DualFocusError("bad-alignment-file", `${where}: not a saved alignment: ${reason}`, { facts: { file: where } });
  }
  const { width, height, reference, frames } = parsed.data;
  return { width, height, reference, frames: frames as FrameAlignment[] };
}

interface StackShape extends Size {
  readonly planes: number;
  /** Of its images, where they have been read. */
  readonly channels?: Image["channels"];
}

/** Throws if the alignment is for another number of planes, image size or number of channels. `name` is the alignment's in the error. */
export function checkFits(alignment: Alignment, stack: StackShape, name = "the alignment"): void {
  const { width, height, frames } = alignment;
  if (width !== stack.width || height !== stack.height || frames.length !== stack.planes)
    throw new DualFocusError(
      "alignment-mismatch",
      `${name}: is for ${frames.length} planes of ${width}×${height}, the stack has ${stack.planes} of ${stack.width}×${stack.height}`,
    );
  const { channels } = stack;
  const other = channels && frames.find(({ gain }) => gain.length !== channels)?.gain.length;
  if (other)
    throw new DualFocusError(
      "alignment-mismatch",
      `${name}: is for images of ${other} ${other === 1 ? "channel" : "channels"}, the stack has images of ${channels}`,
    );
}

/**
 * The alignment of some of the frames in another order: frame `order[n]` becomes frame n. Undefined if the reference is not among them, or
 * if a frame is new (-1).
 */
export function reorderAlignment({ frames, reference, ...size }: Alignment, order: readonly number[]): Alignment | undefined {
  const to = order.indexOf(reference);
  if (to < 0 || order.some((n) => !frames[n])) return undefined;
  return { ...size, reference: to, frames: order.map((n) => frames[n] as FrameAlignment) };
}

/** The alignment for the same images in another size, for instance estimated on small copies and used for the originals. */
export function resizeAlignment(alignment: Alignment, { width, height }: Size): Alignment {
  const factor = width / alignment.width;
  const frames = alignment.frames.map((frame) => ({
    ...frame,
    transform: resized(frame.transform, factor),
    ...(frame.residual === undefined ? {} : { residual: frame.residual * factor }),
  }));
  return { ...alignment, width, height, frames };
}
