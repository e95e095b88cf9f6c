import { AXIS } from "../engine/dims.ts";
import { dims } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";

/**
 * Augmented focus volume V* (eq. 1): the features and how they change from plane to plane.
 *
 *     V*_n = [V_n, V_{n+1} − V_n]  for n < N,    V*_N = [V_N, V_N − V_{N−1}]
 *
 * The last plane repeats the difference before it, so that a ramp V_n = n has difference +1 everywhere.
 * `focusVolume` V, [B, C₁, N, h, w]; returns [B, 2C₁, N, h, w].
 */
export function augmentFocusVolume(focusVolume: Tensor): Tensor {
  dims(focusVolume, "B C N h w", "augmentFocusVolume");
  return focusVolume.engine.concat([focusVolume, planeDifferences(focusVolume, "repeat")], AXIS.channel);
}

/**
 * DFV's difference volume, which replaces V: V_n − V_{n+1}, and V_N itself on the last plane (its code, not eq. 1).
 */
export const dfvDifferences = (focusVolume: Tensor): Tensor => planeDifferences(focusVolume, "value");

/** The change from each plane to the next; the last plane repeats the one before it, or holds its own value. */
export function planeDifferences(volume: Tensor, last: "repeat" | "value", axis: number = AXIS.plane): Tensor {
  const [upper, lower] = [volume.slice(axis, { start: 1 }), volume.slice(axis, { end: -1 })];
  const change = last === "repeat" ? upper.sub(lower) : lower.sub(upper);
  const lastPlane = (last === "repeat" ? change : volume).slice(axis, { start: -1 });
  return volume.engine.concat([change, lastPlane], axis);
}
