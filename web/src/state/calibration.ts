/** A position in the stack, as a plane index that may be fractional, and its distance in any unit of length. */
export interface KnownPoint {
  readonly plane: number;
  readonly distance: number;
}

/** What increases evenly from plane to plane: the distance (rails, microscopes) or its inverse (focus bracketing, focus rings). */
export type Spacing = "distance" | "dioptres";

/** The distances of all planes from two known ones, or why they cannot be computed. */
export function calibrate(
  [one, two]: readonly [KnownPoint, KnownPoint],
  { planes, spacing }: { planes: number; spacing: Spacing },
): { readonly distances: readonly number[] } | { readonly problem: string } {
  if (!(one.distance > 0 && two.distance > 0)) return { problem: "Both distances must be positive." };
  if (one.distance === two.distance) return { problem: "The two distances must differ." };
  if (Math.abs(one.plane - two.plane) < 0.1) return { problem: "The two points are in the same plane; choose two that are farther apart." };
  const even = (distance: number): number => (spacing === "distance" ? distance : 1 / distance);
  const [from, to] = [even(one.distance), even(two.distance)];
  const values = Array.from({ length: planes }, (_, n) => from + ((n - one.plane) / (two.plane - one.plane)) * (to - from));
  const beyond = values.findIndex((value) => !(value > 0));
  if (beyond >= 0)
    return {
      problem:
        spacing === "distance"
          ? `Plane ${beyond + 1} would lie behind the camera. Are the steps even in dioptres instead?`
          : `Plane ${beyond + 1} would lie beyond infinity. Are the steps even in distance instead?`,
    };
  return { distances: values.map((value) => Number(even(value).toPrecision(6))) };
}
