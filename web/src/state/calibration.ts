/** A place in the stack, in planes from 0 (between planes too), and how far away it is, in any unit of length. */
export interface KnownPoint {
  readonly plane: number;
  readonly distance: number;
}

/** What grows evenly from plane to plane: the distance (rails, microscopes) or its inverse (cameras' focus bracketing, focus rings). */
export type Spacing = "distance" | "dioptres";

/** Distances of all planes from two known ones, or why there are none. */
export function calibrate(
  [one, two]: readonly [KnownPoint, KnownPoint],
  { planes, spacing }: { planes: number; spacing: Spacing },
): { readonly distances: readonly number[] } | { readonly problem: string } {
  if (!(one.distance > 0 && two.distance > 0)) return { problem: "Both distances must be above zero." };
  if (one.distance === two.distance) return { problem: "The two distances must differ." };
  if (Math.abs(one.plane - two.plane) < 0.1) return { problem: "The two places are in the same plane; choose two that are farther apart." };
  const even = (distance: number): number => (spacing === "distance" ? distance : 1 / distance);
  const [from, to] = [even(one.distance), even(two.distance)];
  const values = Array.from({ length: planes }, (_, n) => from + ((n - one.plane) / (two.plane - one.plane)) * (to - from));
  const beyond = values.findIndex((value) => !(value > 0));
  if (beyond >= 0)
    return {
      problem:
        spacing === "distance"
          ? `Plane ${beyond + 1} would lie behind the camera. Are the steps perhaps even in dioptres?`
          : `Plane ${beyond + 1} would lie beyond infinity. Are the steps perhaps even in distance?`,
    };
  return { distances: values.map((value) => Number(even(value).toPrecision(6))) };
}
