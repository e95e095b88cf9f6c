import { z } from "zod";

import { PREFERENCES } from "./allInFocus/prior.ts";
import { DualFocusError } from "../errors.ts";
import { countTyped } from "../stack/distanceList.ts";
import { UNITS } from "../stack/stackFormat.ts";
import { DEFAULT_OUTPUTS, OUTPUT_NAMES } from "../output/outputs.ts";

export const MODEL_NAMES = ["small", "fine"] as const;

const MOST_DISTANCES = 1000;

/** Longer side of what the network sees. */
export const workingSideSchema = z.union([z.int().min(64), z.enum(["auto", "full"])]);

export const outputNameSchema = z.enum(OUTPUT_NAMES);

const numberList = z
  .array(z.number("expected a number"))
  .min(1, "the list of focus distances is empty")
  .max(MOST_DISTANCES, `there are more than ${MOST_DISTANCES} focus distances`);

const LONGEST_TEXT = 10 * MOST_DISTANCES;

const distanceText = z
  .string()
  .max(LONGEST_TEXT, { error: `the focus distances have more than ${LONGEST_TEXT} characters`, abort: true })
  .superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem !== undefined) context.addIssue(problem);
  });

/**
 * A union by itself only reports that neither form fits: this one reports what is wrong with the form that was given. Signs are not checked:
 * whether the numbers are distances or the positions of a microscope, which may be negative, is known from the images.
 */
const distancesSchema = z.union([numberList, distanceText], {
  error: ({ input, errors }) => {
    const [issue] = (typeof input === "string" ? errors[1] : Array.isArray(input) ? errors[0] : undefined) ?? [];
    if (!issue) return "expected a list of numbers, or text such as 0.5,650mm,inf";
    const [index] = issue.path;
    return index === undefined ? issue.message : `focus distance ${Number(index) + 1}: ${issue.message}`;
  },
});

/** Settings of a job: the command's options without those that name files or belong to the machine it runs on. */
export const depthSettings = z.strictObject({
  distances: distancesSchema
    .optional()
    .describe(
      "focus distances, one for each frame, in the order of the frames; or as text: 0.5,650mm,inf, or the first and the step, 150mm+0.1mm",
    ),
  unit: z.enum(UNITS).optional().describe("of the focus distances; metres if left out"),
  model: z.enum(MODEL_NAMES).default("small").describe("network"),
  align: z.enum(["auto", "off"]).default("auto").describe("align the frames; off for microscopes"),
  reverse: z.boolean().optional().describe("exchange near and far; only for stacks without focus distances"),
  size: workingSideSchema
    .default("auto")
    .describe("longer side the network sees, in pixels; auto is 768, or more where planes differ by little blur"),
  save: z
    .array(outputNameSchema)
    .min(1)
    .max(OUTPUT_NAMES.length)
    .default([...DEFAULT_OUTPUTS])
    .describe("what to write"),
  fill: z
    .enum(["on", "off"])
    .optional()
    .describe(
      "on (default) or off: finish the depth: move its edges to those of the image, fill areas that the images show too little of (plain walls), and smooth its grain",
    ),
  prefer: z
    .enum(PREFERENCES)
    .optional()
    .describe("which side wins in the all-in-focus image at edges that are seen through; the sharper one if left out"),
});

/** What is wrong with a text of distances. One that is a list, or a first distance and a step, never names a file. */
function problemOf(text: string): string | undefined {
  try {
    return (countTyped(text) ?? 0) > MOST_DISTANCES ? `there are more than ${MOST_DISTANCES} focus distances` : undefined;
  } catch (error) {
    if (error instanceof DualFocusError) return error.message;
    throw error;
  }
}

export type DepthSettings = z.infer<typeof depthSettings>;
