import { z } from "zod";

import { PREFERENCES } from "./allInFocus/prior.ts";
import { DualFocusError } from "../errors.ts";
import { typedDistances } from "../stack/distanceList.ts";
import { LEAST_DISTANCE, UNITS } from "../stack/stackFormat.ts";
import { DEFAULT_OUTPUTS, OUTPUT_NAMES } from "../output/outputs.ts";

export const MODEL_NAMES = ["small", "base"] as const;

const MOST_DISTANCES = 1000;

/** Longer side of what the network sees. */
export const workingSideSchema = z.union([z.int().min(64), z.enum(["auto", "full"])]);

export const outputNameSchema = z.enum(OUTPUT_NAMES);

/** Settings of a job: the command's options without those that name files or belong to the machine it runs on. */
export const depthSettings = z
  .strictObject({
    distances: z
      .union([z.array(z.number()).min(1).max(MOST_DISTANCES), z.string().max(10 * MOST_DISTANCES)])
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
      .describe("on (default) or off: carry depth into areas that the images show too little of, from around them"),
    prefer: z
      .enum(PREFERENCES)
      .optional()
      .describe("which side wins in the all-in-focus image at edges that are seen through; the sharper one if left out"),
  })
  .superRefine(({ distances = [], unit = "m" }, context) => {
    if (typeof distances === "string") {
      const problem = problemOf(distances);
      if (problem !== undefined) context.addIssue({ code: "custom", path: ["distances"], message: problem });
      return;
    }
    for (const [n, value] of distances.entries())
      if (value < LEAST_DISTANCE[unit])
        context.addIssue({ code: "custom", path: ["distances", n], message: `${value} ${unit} is not a focus distance` });
  });

/** What is wrong with a text of distances. One that is a list, or a first distance and a step, never names a file. */
function problemOf(text: string): string | undefined {
  try {
    const { length } = typedDistances(text, 1);
    return length > MOST_DISTANCES ? `${length} focus distances are more than ${MOST_DISTANCES}` : undefined;
  } catch (error) {
    if (error instanceof DualFocusError) return error.message;
    throw error;
  }
}

export type DepthSettings = z.infer<typeof depthSettings>;
