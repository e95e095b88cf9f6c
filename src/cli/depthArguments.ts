import { InvalidArgumentError } from "commander";

import { OUTPUT_NAMES, type OutputName } from "../output/outputs.ts";

export function workingSize(text: string): number | "full" | "auto" {
  if (text === "full" || text === "auto") return text;
  const side = Number(text);
  if (!Number.isInteger(side) || side < 64) throw new InvalidArgumentError("It takes a whole number of pixels, 64 or more, full or auto.");
  return side;
}

export function outputNames(text: string): readonly OutputName[] {
  const names = text.split(",").map((name) => {
    const known = OUTPUT_NAMES.find((each) => each === name.trim());
    if (!known) throw new InvalidArgumentError(`"${name}" is none of ${OUTPUT_NAMES.join(", ")}.`);
    return known;
  });
  return [...new Set(names)];
}

export function threadCount(text: string): number {
  const threads = Number(text);
  if (text.trim() === "" || !Number.isInteger(threads) || threads < 0)
    throw new InvalidArgumentError("It takes a whole number; 0 uses every core.");
  return threads;
}
