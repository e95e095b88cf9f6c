import { InvalidArgumentError } from "commander";

import type { Unit } from "../io/stackFolder.ts";
import { OUTPUT_NAMES, type OutputName } from "../output/outputs.ts";

export interface DepthOptions {
  readonly output?: string;
  readonly distances?: string;
  readonly unit?: Unit;
  readonly model: string;
  readonly device: "auto" | "cpu" | "webgpu";
  readonly align: string;
  readonly size: number | "full";
  readonly save: readonly OutputName[];
  readonly truth?: string;
  readonly threads: number;
  readonly batch: boolean;
  readonly force: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Longer side of what the network sees: about the size of its training pictures' scenes, and quick on two cores. */
export const WORKING_SIDE = 768;

export function workingSize(text: string): number | "full" {
  if (text === "full") return text;
  const side = Number(text);
  if (!Number.isInteger(side) || side < 64) throw new InvalidArgumentError("It takes a whole number of pixels, 64 or more, or full.");
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
