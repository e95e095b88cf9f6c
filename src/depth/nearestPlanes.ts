import type { DepthMap } from "../image/depthMap.ts";
import { valuesInSpace } from "./evenScale.ts";

/**
 * The plane that is focused nearest to each depth, in the scale in which blur changes evenly; halfway between two, the first. Not the largest p: where p is
 * wide its peak says little, while its mean is the depth.
 */
export function nearestPlanes({ values, space }: DepthMap, focusDistances: readonly number[]): Uint16Array {
  const even = valuesInSpace(space, Float32Array.from(focusDistances));
  const halfway = valuesInSpace(space, even.slice(1).map((value, n) => (value + (even[n] as number)) / 2)); // prettier-ignore
  const sign = (focusDistances.at(-1) as number) < (focusDistances[0] as number) ? -1 : 1;
  return Uint16Array.from(values, (value) => {
    let plane = 0;
    while (plane < halfway.length && sign * (value - (halfway[plane] as number)) > 0) plane++;
    return plane;
  });
}
