import type { Tensor } from "../engine/engine.ts";
import { scope } from "../engine/scope.ts";
import type { TorchEngine } from "../engine/torch/torchEngine.ts";

export interface GatherInput {
  /** [B, 3, H, W] in [0, 1], sharp everywhere. */
  readonly picture: Tensor;
  /** c: radius of the circle of confusion in pixels, [B, P, H, W]. */
  readonly blurRadius: Tensor;
  /** [B]: 2 is a Gaussian, a large one a disk. */
  readonly exponent: Tensor;
}

/**
 * The gather blurs of optics/synthesize/gather.ts on the device, a window at a time for whole batches. Returns [B, P, 3, H, W].
 *
 *     out_p = Σ_q g_q I_q / Σ_q g_q,   g_q = c_q⁻² exp(−2 (r_pq / c_q)^exponent),   only q with c_q > 1; copied where c_p ≤ 1
 */
export function gatherBlurs(engine: TorchEngine, { picture, blurRadius, exponent }: GatherInput, { window }: { window: number }): Tensor {
  return scope(() => {
    const half = (window - 1) / 2;
    const [B, P, H, W] = blurRadius.shape as [number, number, number, number];
    const c = blurRadius.maximum(1).unsqueeze(2); //                                             [B, P, 1, H, W]
    const power = exponent.reshape([B, 1, 1, 1, 1]);
    const steepness = c.log().mul(power).neg().exp().mul(-2); //                                 −2 c^−exponent
    const blurred = blurRadius.unsqueeze(2).greater(1);
    const height = blurred.where(c.pow(-2), 0);
    const coloursAndOne = engine.concat([picture, engine.full([B, 1, H, W], 1)], 1).unsqueeze(1); // [B, 1, 4, H, W]
    const sums = engine.full([B, P, 4, H, W], 0);

    for (const [square, offsets] of offsetsByRadius(half))
      scope(() => {
        const reach = square === 0 ? engine.full([B, 1, 1, 1, 1], 0) : power.mul(Math.log(square) / 2).exp(); // r^exponent
        const weight = steepness.mul(reach).exp().mul(height);
        for (const { dx, dy } of offsets)
          scope(() => {
            const from = (tensor: Tensor): Tensor => part(tensor, { dx, dy });
            engine.call("aten::addcmul_", part(sums, { dx: -dx, dy: -dy }), from(weight), from(coloursAndOne));
          });
      });
    const colours = sums.slice(2, { end: 3 }).div(sums.slice(2, { start: 3 }).maximum(1e-12));
    return blurred.where(colours, picture.unsqueeze(1));
  });
}

/** Offsets of the window, by the square of their length. */
function offsetsByRadius(half: number): Map<number, { dx: number; dy: number }[]> {
  const found = new Map<number, { dx: number; dy: number }[]>();
  for (let dy = -half; dy <= half; dy++)
    for (let dx = -half; dx <= half; dx++) {
      const square = dx * dx + dy * dy;
      const offsets = found.get(square) ?? [];
      offsets.push({ dx, dy });
      found.set(square, offsets);
    }
  return found;
}

/** The pixels that still lie in the picture when moved by (−dx, −dy). */
function part(tensor: Tensor, { dx, dy }: { dx: number; dy: number }): Tensor {
  const along = (input: Tensor, axis: number, by: number): Tensor => {
    if (by === 0) return input;
    return input.slice(axis, by > 0 ? { start: by } : { end: by });
  };
  return along(along(tensor, 3, dy), 4, dx);
}
