import { imageDistance } from "../optics/lens/thinLens.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import { IDENTITY, type Similarity } from "./similarity.ts";

/**
 * What focus breathing alone would do between two planes of a lens that moves as a whole: the picture grows as the sensor's distance
 *
 *     v = f d / (d - f)
 *
 * Real lenses breathe less or even the other way, so this only starts the search. Without metric distances or a focal length: no change.
 */
export function breathingSeed(
  { focusDistances, space }: Pick<FocalStack, "focusDistances" | "space">,
  { from, to, focalLength }: { from: number; to: number; focalLength: number | undefined },
): Similarity {
  const [first, second] = [focusDistances[from] as number, focusDistances[to] as number];
  if (space !== "depth" || focalLength === undefined || !(focalLength > 0 && Math.min(first, second) > focalLength)) return IDENTITY;
  return { ...IDENTITY, scale: imageDistance({ focalLength }, second) / imageDistance({ focalLength }, first) };
}
