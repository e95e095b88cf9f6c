import { DualFocusError } from "../../../src/errors.ts";
import { typedDistances } from "../../../src/stack/distanceList.ts";
import { unify } from "../../../src/stack/quantity.ts";
import type { Unit } from "../../../src/stack/stackFormat.ts";
import { inUnit, type Draft } from "./distances.ts";

/**
 * The draft after a text was entered in the field of one image. What the command takes for the whole stack, a list or the first distance and
 * the step (`150mm+0.1mm`), fills all fields in the order of the file names.
 */
export function entered(draft: Draft, frame: number, text: string): Draft {
  const one = { ...draft, texts: { ...draft.texts, [frame]: text } };
  if (text.trim() === "" || inUnit(text, draft.unit) !== undefined) return one;
  const frames = [...draft.order].sort((a, b) => a - b);
  const all = wholeStack(text, draft.unit, frames.length);
  if (!all) return one;
  return {
    ...draft,
    unit: all.unit,
    texts: { ...draft.texts, ...Object.fromEntries(frames.map((each, n) => [each, String(all.values[n])])) },
  };
}

/** Undefined if the text is not one distance for each image. */
function wholeStack(text: string, unit: Unit, images: number): ReturnType<typeof unify> {
  try {
    const quantities = typedDistances(text, images);
    return quantities.length === images ? unify(quantities, unit) : undefined;
  } catch (error) {
    if (error instanceof DualFocusError) return undefined;
    throw error;
  }
}
