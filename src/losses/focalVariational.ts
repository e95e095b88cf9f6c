import { MAP_AXIS } from "../engine/dims.ts";
import { concrete, dims } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { maskedMean } from "./maskedMean.ts";

/**
 * L_fv (eq. 7): focus probability rises to its peak and falls behind it.
 *
 *     mean_x [ Σ_{i<k} max(0, p_i − p_{i+1})² + Σ_{i≥k} max(0, p_{i+1} − p_i)² ],   k(x) = argmax_n p_n(x)
 *
 * k is the first maximum and carries no gradient. 0 exactly when p is unimodal; 0.04 for p = (0.4, 0.2, 0.4).
 * `focusProbability` p, [B, N, H, W]; `valid` [B, 1, H, W].
 */
export function focalVariationalLoss({ focusProbability, valid }: { readonly focusProbability: Tensor; readonly valid: Tensor }): Tensor {
  const wrongWay = wrongSteps(focusProbability).relu();
  return maskedMean(wrongWay.square().sum([MAP_AXIS.plane], { keepAxes: true }), valid);
}

/** k of eq. 7, [B, 1, H, W], as numbers. */
const peakOf = (p: Tensor): Tensor => p.argmax(MAP_AXIS.plane, { keepAxes: true }).cast(p.dtype);

/** i + ½ for each pair of neighbouring planes, [1, N − 1, 1, 1]. */
function betweenPlanes(p: Tensor): Tensor {
  const pairs = concrete(dims(p, "B N H W", "focus probability").N, "focus probability") - 1;
  return p.engine.range(pairs).cast(p.dtype).add(0.5).reshape([1, pairs, 1, 1]);
}

/**
 * How far a map per plane goes the wrong way between neighbouring planes (negative: the right way), [B, N − 1, H, W]: m_i − m_{i+1} before
 * the peak, m_{i+1} − m_i behind it.
 */
export function wrongSteps(maps: Tensor, peak: Tensor = peakOf(maps)): Tensor {
  const rise = maps.slice(MAP_AXIS.plane, { start: 1 }).sub(maps.slice(MAP_AXIS.plane, { end: -1 })); // m_{i+1} − m_i
  const sign = betweenPlanes(maps).mul(2).sub(peak.mul(2)).clamp({ min: -1, max: 1 }); // −1 before the peak, 1 behind it; without gradient
  return rise.mul(sign);
}

/** Of `focalTrendLoss`: below `floor` a step of p counts as rounding; log p should be at least as steep as `slope`, per plane. */
export const TREND = { floor: 1e-6, slope: 0.05 } as const;

/**
 * The condition of L_fv (eq. 7) on log p, so that a bump of a thousandth far from the peak counts as much as one next to it. The squares
 * in eq. 7 hardly penalise such bumps, and with ten planes most of p is that small.
 *
 *     mean_x Σ_i max(0, slope + ℓ_i − ℓ_{i+1}) before the peak, max(0, slope + ℓ_{i+1} − ℓ_i) behind it,   ℓ = log(p + floor)
 *
 * The two steps next to the peak never go the wrong way and are left out: between two planes p may be even.
 * `focusProbability` p, [B, N, H, W]; `valid` [B, 1, H, W].
 */
export function focalTrendLoss({ focusProbability: p, valid }: { readonly focusProbability: Tensor; readonly valid: Tensor }): Tensor {
  const peak = peakOf(p);
  const away = betweenPlanes(p).sub(peak).abs().greater(1).cast(p.dtype);
  const wrongWay = wrongSteps(p.add(TREND.floor).log(), peak).add(TREND.slope).relu();
  return maskedMean(wrongWay.mul(away).sum([MAP_AXIS.plane], { keepAxes: true }), valid);
}
