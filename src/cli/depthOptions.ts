import { Option } from "commander";

import { WORKING_SIDE } from "../depth/working.ts";
import { COLOR_MAPS } from "../output/colorMap.ts";
import type { SavedName } from "../depth/node/stackRun.ts";
import { DEFAULT_OUTPUTS, OUTPUT_FILES, OUTPUT_NAMES } from "../output/outputs.ts";
import { PREFERENCES } from "../depth/allInFocus/prior.ts";
import { UNITS } from "../stack/stackFormat.ts";
import { SAVED_WORDS } from "./savedWords.ts";
import { listOf, oneOf, parser } from "./arguments.ts";

/** Of depth and check. */
export const DISTANCES_HELP =
  "focus distances, separated by commas, in the order of the file names; the first and the step (150mm+0.1mm, a focus rail); or a text file";

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

export const fillOption = (): Option =>
  new Option(
    "--fill <on|off>",
    "finish the depth: move its edges to those of the image, fill areas that the images show too little of (plain walls), and smooth its grain",
  )
    .choices(["on", "off"])
    .default("on");

export const preferOption = (): Option =>
  new Option("--prefer <near|far>", "what the all-in-focus image shows at edges that are seen through (default: what is sharper)").choices(
    PREFERENCES,
  );

/** What `depth` can write: every output, and the result as a page. */
export const SAVED_NAMES: readonly SavedName[] = [...OUTPUT_NAMES, "html"];

/** At the end of the help. */
export const savedHelp = (names: readonly SavedName[] = SAVED_NAMES): string =>
  `\nWhat --save can write:\n${names.map((name) => `  ${name.padEnd(12)} ${name === "html" ? "result.html" : OUTPUT_FILES[name]}: ${SAVED_WORDS[name]}`).join("\n")}`;

export const saveOption = (names: readonly SavedName[] = SAVED_NAMES): Option =>
  new Option("--save <LIST>", "what to write, separated by commas, of those listed below; or all")
    .argParser((text: string): readonly SavedName[] => {
      const chosen = listOf(oneOf<SavedName | "all">([...names, "all"]))(text);
      return chosen.includes("all") ? names : [...new Set(chosen as readonly SavedName[])];
    })
    .default(DEFAULT_OUTPUTS);
