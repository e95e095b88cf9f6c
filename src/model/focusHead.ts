import { AXIS, MAP_AXIS } from "../engine/dims.ts";
import { dims, sameDim, type Dim } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { planeSize } from "./volume.ts";

/** Focus probability p: logits [B, 1, N, h, w] resized to the image if they are not yet, then softmax over the planes. Returns [B, N, H, W]. */
export function focusProbability(logits: Tensor, size: readonly [Dim, Dim]): Tensor {
  const maps = logits.squeeze(AXIS.channel).cast("f32");
  const isFull = planeSize(logits).every((side, axis) => sameDim(side, size[axis] as Dim));
  return (isFull ? maps : maps.resize2d(size, "bilinear")).softmax(MAP_AXIS.plane);
}

export interface Expectation {
  /** p, [B, N, H, W]. */
  readonly focusProbability: Tensor;
  /** f, [B, N]. */
  readonly focusDistances: Tensor;
}

/** Depth (eq. 6): D̂ = Σ_n p_n f_n. Returns [B, 1, H, W] in the unit of f. */
export function expectedDepth({ focusProbability, focusDistances }: Expectation): Tensor {
  return focusProbability.mul(perPlane(focusDistances)).sum([MAP_AXIS.plane], { keepAxes: true });
}

/** Spread of p around its mean, √(Σ_n p_n (f_n − D̂)²): DFV's uncertainty. Returns [B, 1, H, W] in the unit of f. */
export function depthSpread({ focusProbability, focusDistances }: Expectation): Tensor {
  const depth = expectedDepth({ focusProbability, focusDistances });
  const distance = perPlane(focusDistances).sub(depth);
  return focusProbability.mul(distance.square()).sum([MAP_AXIS.plane], { keepAxes: true }).sqrt();
}

/** [B, N] → [B, N, 1, 1]. */
export function perPlane(focusDistances: Tensor): Tensor {
  const { B, N } = dims(focusDistances, "B N", "focus distances");
  return focusDistances.reshape([B, N, 1, 1]);
}
