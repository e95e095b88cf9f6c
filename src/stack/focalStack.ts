import type { Space } from "../image/depthMap.ts";
import { checkPixels, type Image } from "../image/image.ts";

/** Images of one still scene, one per focal plane, from the nearest focus to the farthest (§3.2). */
export interface FocalStack {
  readonly images: readonly Image[];
  readonly focusDistances: readonly number[];
  readonly space: Space;
}

/** Checks what every user of a stack relies on: one distance per image, one size, near to far, every pixel a number. */
export function focalStack({ images, focusDistances, space }: FocalStack, { minPlanes = 2 }: { minPlanes?: number } = {}): FocalStack {
  if (images.length !== focusDistances.length)
    throw new RangeError(`focalStack: got ${images.length} images but ${focusDistances.length} focus distances`);
  if (images.length < minPlanes) throw new RangeError(`focalStack: expected at least ${minPlanes} planes, got ${images.length}`);
  checkFocusDistances(focusDistances, space);
  const [first] = images as [Image];
  const odd = images.findIndex(
    ({ width, height, channels }) => width !== first.width || height !== first.height || channels !== first.channels,
  );
  if (odd >= 0) {
    const size = (image: Image): string => `${image.width}×${image.height}×${image.channels}`;
    throw new RangeError(`focalStack: plane ${odd} is ${size(images[odd] as Image)}, plane 0 is ${size(first)}`);
  }
  images.forEach((image, plane) => {
    checkPixels(image, `focalStack: plane ${plane}`);
  });
  return { images, focusDistances, space };
}

/** Depth must grow from a positive value, positions and indices from any; disparity must fall; none may repeat. */
export function checkFocusDistances(focusDistances: readonly number[], space: Space): void {
  const sign = space === "disparity" ? -1 : 1;
  const wrong = focusDistances.findIndex((distance, n) => {
    if (!Number.isFinite(distance) || (space === "depth" && distance <= 0)) return true;
    return n > 0 && !(sign * (distance - (focusDistances[n - 1] as number)) > 0);
  });
  if (wrong < 0) return;
  const increasing = "finite and increasing";
  const rule = { depth: "positive metres, increasing", position: increasing, disparity: "finite and decreasing", index: increasing }[space];
  throw new RangeError(
    `focus distances must be ${rule}; plane ${wrong} is ${focusDistances[wrong]}` +
      (wrong > 0 ? ` after ${focusDistances[wrong - 1]}` : ""),
  );
}

/**
 * `count` of `planes` plane indices, spread evenly, ends included.
 * `truncate` is DFV's choice (10 → 5 gives 0 2 4 6 9); `round` spreads most evenly (0 2 5 7 9).
 */
export function choosePlanes(planes: number, count: number, rounding: "truncate" | "round" = "truncate"): number[] {
  if (!Number.isInteger(count) || count < 1 || count > planes)
    throw new RangeError(`choosePlanes: cannot choose ${count} of ${planes} planes`);
  if (count === 1) return [0];
  const whole = rounding === "truncate" ? Math.floor : Math.round;
  return Array.from({ length: count }, (_, i) => whole((i * (planes - 1)) / (count - 1)));
}

/** The planes with these indices, in this order. */
export function selectPlanes(stack: FocalStack, indices: readonly number[]): FocalStack {
  const pick = <T>(list: readonly T[]): T[] =>
    indices.map((index) => {
      if (!(index in list)) throw new RangeError(`selectPlanes: there is no plane ${index}; the stack has ${list.length}`);
      return list[index] as T;
    });
  return { images: pick(stack.images), focusDistances: pick(stack.focusDistances), space: stack.space };
}
