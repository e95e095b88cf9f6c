import type { DepthMap } from "../image/depthMap.ts";
import { valuesInSpace } from "./evenScale.ts";

/**
 * Of these planes, the one that is focused nearest to each depth, in the scale in which blur changes evenly; halfway between two, the first. Not the largest
 * p: where p is wide its peak says little, while its mean is the depth.
 */
export function nearestPlanes({ values, space }: DepthMap, focusDistances: readonly number[], planes: readonly number[]): Uint16Array {
  const used = planes.map((plane) => focusDistances[plane] as number);
  const even = valuesInSpace(space, Float32Array.from(used));
  const halfway = valuesInSpace(space, even.slice(1).map((value, n) => (value + (even[n] as number)) / 2)); // prettier-ignore
  const sign = (used.at(-1) as number) < (used[0] as number) ? -1 : 1;
  const nearest = new Uint16Array(values.length);
  for (let i = 0; i < nearest.length; i++) {
    let n = 0;
    while (n < halfway.length && sign * ((values[i] as number) - (halfway[n] as number)) > 0) n++;
    nearest[i] = planes[n] as number;
  }
  return nearest;
}
