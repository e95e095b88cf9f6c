import type { Tensor } from "../engine/engine.ts";
import { maskedMean } from "./maskedMean.ts";

export interface DepthPair {
  /** D̂, [B, 1, H, W]. */
  readonly depth: Tensor;
  /** D*, [B, 1, H, W]; anything finite where not valid. */
  readonly trueDepth: Tensor;
  /** 1 where D* is known, else 0; [B, 1, H, W]. */
  readonly valid: Tensor;
}

/**
 * L_depth (§3.5): smooth L1, mean over the valid pixels.
 *
 *     e²/2β  where |e| < β,   |e| − β/2  elsewhere
 */
export function smoothL1({ depth, trueDepth, valid }: DepthPair, { beta = 1 }: { readonly beta?: number } = {}): Tensor {
  const error = depth.sub(trueDepth).abs();
  const near = error.square().mul(0.5 / beta);
  const far = error.sub(0.5 * beta);
  return maskedMean(error.less(beta).where(near, far), valid);
}
