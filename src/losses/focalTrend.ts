import { MAP_AXIS } from "../engine/axes.ts";
import { concrete, dims } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { wrongSteps } from "./focalVariational.ts";
import { maskedMean } from "./maskedMean.ts";

const FLOOR = 1e-6; // below this a step of p counts as rounding
const SLOPE = 0.05; // how steep log p should be at least, per plane

/**
 * L_fv's demand (eq. 7) on log p, so that a bump of a thousandth far from the peak weighs as much as one beside it. The squares of
 * eq. 7 hardly see such bumps, and with ten planes most of p is that small.
 *
 *     mean_x Σ_i max(0, SLOPE + ℓ_i − ℓ_{i+1}) before the peak, max(0, SLOPE + ℓ_{i+1} − ℓ_i) behind it,   ℓ = log(p + FLOOR)
 *
 * The two steps that touch the peak never go the wrong way and are left out: between two planes p may be even.
 * `focusProbability` p, [B, N, H, W]; `valid` [B, 1, H, W].
 */
export function focalTrendLoss({ focusProbability: p, valid }: { readonly focusProbability: Tensor; readonly valid: Tensor }): Tensor {
  const pairs = concrete(dims(p, "B N H W", "focus probability").N, "focus probability") - 1;
  const peak = p.argmax(MAP_AXIS.plane, { keepAxes: true }).cast(p.dtype);
  const between = p.engine.range(pairs).cast(p.dtype).add(0.5).reshape([1, pairs, 1, 1]);
  const away = between.sub(peak).abs().greater(1).cast(p.dtype);
  const wrongWay = wrongSteps(p.add(FLOOR).log()).add(SLOPE).relu();
  return maskedMean(wrongWay.mul(away).sum([MAP_AXIS.plane], { keepAxes: true }), valid);
}
