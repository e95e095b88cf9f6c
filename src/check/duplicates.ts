import type { Plane } from "../image/boxFilter.ts";
import type { Finding } from "./finding.ts";

/** Root mean square difference, in a range of 1, below which two images are the same: noise alone makes two exposures differ more. */
const SAME = 3e-4;

export function checkDuplicates(
  frames: readonly Plane[],
  { nameOf, blank }: { nameOf: (plane: number) => string; blank: readonly number[] },
): Finding[] {
  const twins = frames.flatMap((frame, plane) => {
    if (blank.includes(plane)) return [];
    const twin = frames.findIndex((other, n) => n < plane && !blank.includes(n) && areSame(other.values, frame.values));
    return twin < 0 ? [] : [{ plane, twin }];
  });
  if (twins.length > 0 && twins.length === frames.length - 1) {
    const message = frames.length === 2 ? "both images are the same" : `all ${frames.length} images are the same`;
    return [{ code: "duplicate", severity: "warning", message, remedy: "take one for each focus distance" }];
  }
  return twins.map(({ plane, twin }): Finding => {
    const message = `${nameOf(plane)} is the same image as ${nameOf(twin)}`;
    return { code: "duplicate", severity: "warning", plane, message, remedy: "remove one of them" };
  });
}

/** Compares a few hundred pixels first: most pairs already differ there. */
function areSame(one: Float32Array, other: Float32Array): boolean {
  return [Math.ceil(one.length / 300), 1].every((stride) => {
    let [sum, count] = [0, 0];
    for (let i = 0; i < one.length; i += stride, count++) sum += ((one[i] as number) - (other[i] as number)) ** 2;
    return Math.sqrt(sum / count) <= SAME;
  });
}
