import { Option } from "commander";

import { WORKING_SIDE } from "../depth/working.ts";
import { COLOR_MAPS } from "../output/colorMap.ts";
import { DEFAULT_OUTPUTS, OUTPUT_NAMES, type OutputName } from "../output/outputs.ts";
import { PREFERENCES } from "../depth/allInFocus/prior.ts";
import { UNITS } from "../stack/stackFormat.ts";
import { listOf, oneOf, parser } from "./arguments.ts";

/** Options that depth, batch and check share. */
export const unitOption = (): Option => new Option("--unit <UNIT>", "unit of the focus distances (default: m)").choices(UNITS);

export const reverseOption = (): Option =>
  new Option("--reverse", "exchange near and far, for a stack without focus distances whose direction was not recognised").default(false);

export const sizeOption = (): Option =>
  new Option(
    "--size <PX|full|auto>",
    `longer side of the images the network sees (auto: ${WORKING_SIDE}, more where planes differ by little blur)`,
  )
    .argParser(
      parser("a whole number of pixels, 64 or more, full or auto", (text): number | "full" | "auto" | undefined => {
        if (text === "full" || text === "auto") return text;
        return Number.isInteger(Number(text)) && Number(text) >= 64 ? Number(text) : undefined;
      }),
    )
    .default("auto");

export const colorsOption = (): Option =>
  new Option("--colors <MAP>", "colours of color.png; near-white is what Blender and Photoshop expect")
    .choices(COLOR_MAPS)
    .default("turbo");

export const preferOption = (): Option =>
  new Option("--prefer <near|far>", "what the all-in-focus image shows at edges that are seen through (default: what is sharper)").choices(
    PREFERENCES,
  );

export const saveOption = (): Option =>
  new Option("--save <LIST>", `what to write, of ${OUTPUT_NAMES.join(", ")}; or all`)
    .argParser((text: string): readonly OutputName[] => {
      const names = listOf(oneOf([...OUTPUT_NAMES, "all"] as const))(text);
      return names.includes("all") ? OUTPUT_NAMES : [...new Set(names as readonly OutputName[])];
    })
    .default(DEFAULT_OUTPUTS);
