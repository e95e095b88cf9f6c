import { MAP_AXIS } from "../engine/dims.ts";
import { concrete } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { perPlane } from "../model/focusHead.ts";

/** Steps count as at least this share of the mean one: closer planes cannot be told apart, and would outweigh all others. */
export const LEAST_STEP = 0.1;

/**
 * The distance between the two planes around D*, in the unit of f; beyond the planes that of the outermost two.
 *
 *     s_n = |f_{n+1} − f_n|,   step(x) = s_1 + Σ_{1<n<N} [D*(x) is past f_n] (s_n − s_{n−1})
 *
 * `focusDistances` f, [B, N], rising or falling; `trueDepth` D*, [B, 1, H, W]; returns [B, 1, H, W].
 */
export function planeStep({ focusDistances, trueDepth }: { readonly focusDistances: Tensor; readonly trueDepth: Tensor }): Tensor {
  const f = perPlane(focusDistances);
  const N = concrete(f.shape[MAP_AXIS.plane] as number, "plane step");
  const from = (tensor: Tensor, start: number, end: number): Tensor => tensor.slice(MAP_AXIS.plane, { start, end });
  const range = from(f, N - 1, N).sub(from(f, 0, 1));
  const least = range.abs().mul(LEAST_STEP / (N - 1));
  const steps = from(f, 1, N)
    .sub(from(f, 0, N - 1))
    .abs(); // s, [B, N − 1, 1, 1]
  const first = from(steps, 0, 1).add(trueDepth.mul(0));
  if (N === 2) return first.maximum(least);
  const change = from(steps, 1, N - 1).sub(from(steps, 0, N - 2));
  const isPast = trueDepth
    .sub(from(f, 1, N - 1))
    .mul(range)
    .greaterEqual(0)
    .cast(f.dtype); // [B, N − 2, H, W]
  return first.add(isPast.mul(change).sum([MAP_AXIS.plane], { keepAxes: true })).maximum(least);
}
