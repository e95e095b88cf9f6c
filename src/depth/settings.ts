import { z } from "zod";

import { PREFERENCES } from "./allInFocus/prior.ts";
import { LEAST_DISTANCE, UNITS } from "../stack/stackFormat.ts";
import { DEFAULT_OUTPUTS, OUTPUT_NAMES } from "../output/outputs.ts";

export const MODEL_NAMES = ["small", "base"] as const;

/** Longer side of what the network sees. */
export const workingSideSchema = z.union([z.int().min(64), z.enum(["auto", "full"])]);

export const outputNameSchema = z.enum(OUTPUT_NAMES);

/** Settings of a job: the command's options without those that name files or belong to the machine it runs on. */
export const depthSettings = z
  .strictObject({
    distances: z.array(z.number()).min(1).max(1000).optional().describe("focus distances, one for each frame, in the order of the frames"),
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
  .superRefine(({ distances, unit = "m" }, context) => {
    for (const [n, value] of distances?.entries() ?? [])
      if (value < LEAST_DISTANCE[unit])
        context.addIssue({ code: "custom", path: ["distances", n], message: `${value} ${unit} is not a focus distance` });
  });

export type DepthSettings = z.infer<typeof depthSettings>;
