import { Option } from "commander";

import { WORKING_SIDE } from "../depth/working.ts";
import { DEFAULT_OUTPUTS, OUTPUT_NAMES, type OutputName } from "../output/outputs.ts";
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

export const saveOption = (): Option =>
  new Option("--save <LIST>", `what to write, of ${OUTPUT_NAMES.join(", ")}`)
    .argParser((text: string): readonly OutputName[] => [...new Set(listOf(oneOf(OUTPUT_NAMES))(text))])
    .default(DEFAULT_OUTPUTS);
