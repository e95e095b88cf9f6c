import type { DepthMap } from "../image/depthMap.ts";

/** The fractional plane index of a value: n at f_n, linear between planes, extrapolated outside them. */
export function planeIndexOf(focusDistances: readonly number[], value: number): number {
  const falling = (focusDistances.at(-1) as number) < (focusDistances[0] as number);
  let n = 0;
  while (n < focusDistances.length - 2 && (falling ? value < (focusDistances[n + 1] as number) : value > (focusDistances[n + 1] as number)))
    n += 1;
  const [from, to] = [focusDistances[n] as number, focusDistances[n + 1] as number];
  return n + (value - from) / (to - from);
}

/**
 * A map as plane indices, clamped to the planes. With `within`, pixels more than that many planes outside become invalid, because the stack
 * does not show how far outside they are.
 */
export function inPlanes(depth: DepthMap, focusDistances: readonly number[], { within = Infinity }: { within?: number } = {}): DepthMap {
  const last = focusDistances.length - 1;
  const numbers = depth.values.map((value) => planeIndexOf(focusDistances, value));
  const valid = depth.valid.map((known, i) => {
    const number = numbers[i] as number;
    return known && number >= -within && number <= last + within ? 1 : 0;
  });
  return { ...depth, space: "index", values: numbers.map((number) => Math.min(Math.max(number, 0), last)), valid };
}
