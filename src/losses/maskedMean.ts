import type { Tensor } from "../engine/engine.ts";

/** Σ values·valid / Σ valid, and 0 where nothing is valid. Shapes must broadcast. */
export function maskedMean(values: Tensor, valid: Tensor): Tensor {
  return values.mul(valid).sum().div(valid.sum().maximum(1));
}
