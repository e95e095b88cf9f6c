import { MAP_AXIS } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";

/**
 * Sharpness weight q (eq. 4): how close plane n is to being in focus at each pixel.
 *
 *     q_n(x) = exp(−|f_n − D*(x)| / τ) / Σ_m exp(−|f_m − D*(x)| / τ)
 *
 * The paper has τ = 1, which is not scale-free: in millimetres the same scene gives an almost one-hot q, in DDFF's disparities an
 * almost even one. `focusDistances` f, [B, N, 1, 1]; `trueDepth` D*, [B, 1, H, W]; returns q, [B, N, H, W], summing to 1 over N.
 */
export function sharpnessWeight(
  { focusDistances, trueDepth }: { readonly focusDistances: Tensor; readonly trueDepth: Tensor },
  { temperature = 1 }: { readonly temperature?: number } = {},
): Tensor {
  return focusDistances
    .sub(trueDepth)
    .abs()
    .mul(-1 / temperature)
    .softmax(MAP_AXIS.plane);
}
