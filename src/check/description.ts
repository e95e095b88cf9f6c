import type { Image } from "../image/image.ts";
import type { Space } from "../image/depthMap.ts";
import { checkFocusDistances } from "../stack/focalStack.ts";
import { numberText } from "../stack/quantity.ts";
import type { Finding } from "./finding.ts";

/** A stack that has not been checked yet. */
export interface Candidate {
  readonly images: readonly Image[];
  readonly focusDistances: readonly number[];
  readonly space: Space;
}

/** Fewer planes are an error: there is no focus to compare. */
const LEAST_PLANES = 2;
/** A peak of sharpness needs a plane on each side. */
const PEAK_PLANES = 3;
/** The network works best with at least this many; the paper's results are for 5. */
const GOOD_PLANES = 5;

/** The checks that need no pixels. After an error here the images cannot be compared at all. */
export function checkDescription(stack: Candidate, nameOf: (plane: number) => string): Finding[] {
  return [...checkCount(stack), ...checkSizes(stack, nameOf), ...checkDistances(stack, nameOf)];
}

function checkCount({ images }: Candidate): Finding[] {
  const count = images.length;
  if (count >= GOOD_PLANES) return [];
  const severity = count < LEAST_PLANES ? "error" : count < PEAK_PLANES ? "warning" : "note";
  const message = count === 1 ? "there is only one image" : `there are only ${count} images`;
  return [{ code: "too-few-planes", severity, message, remedy: `take ${GOOD_PLANES} or more and move the focus a little between them` }];
}

function checkSizes({ images }: Candidate, nameOf: (plane: number) => string): Finding[] {
  const [first] = images;
  const size = ({ width, height, channels }: Image): string => `${width}×${height}${channels === 1 ? " grey" : ""}`;
  return images.flatMap((image, plane) => {
    if (!first || size(image) === size(first)) return [];
    const message = `${nameOf(plane)} is ${size(image)}, ${nameOf(0)} is ${size(first)}`;
    const remedy = "remove the image that does not belong, or export all of them in one size";
    return [{ code: "mixed-sizes", severity: "error", plane, message, remedy }];
  });
}

function checkDistances({ images, focusDistances, space }: Candidate, nameOf: (plane: number) => string): Finding[] {
  if (focusDistances.length !== images.length) {
    const message = `there are ${images.length} images but ${focusDistances.length} focus distances`;
    return [{ code: "contradictory-distances", severity: "error", message, remedy: "give one distance for each image" }];
  }
  if (space === "index") {
    const message = "no focus distances are known, so depth will be a plane index, not metres";
    const remedy = "give them, or state them in a stack.json or in the file names (plane_0.65.jpg)";
    return [{ code: "missing-distances", severity: "note", message, remedy }];
  }
  const wrong = focusDistances.findIndex((_, n) => !areValid(focusDistances.slice(0, n + 1), space));
  if (wrong < 0) return [];
  const [distance, before] = [focusDistances[wrong] as number, focusDistances[wrong - 1]];
  const message =
    before === distance
      ? `${nameOf(wrong - 1)} and ${nameOf(wrong)} have the same focus distance, ${numberText(distance)}`
      : `${nameOf(wrong)}: a focus distance of ${numberText(distance)}${before === undefined ? "" : ` after ${numberText(before)}`} is not possible`;
  const remedy = {
    depth: "distances must be positive metres, near to far",
    position: "positions must grow from near to far",
    disparity: "disparities must fall from near to far",
  }[space];
  return [{ code: "contradictory-distances", severity: "error", plane: wrong, message, remedy: `correct it; ${remedy}` }];
}

function areValid(focusDistances: readonly number[], space: Space): boolean {
  try {
    checkFocusDistances(focusDistances, space);
    return true;
  } catch {
    return false;
  }
}
