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
 * The gather blurs of optics/synthesize/gather.ts on the device, for whole batches. Returns [B, P, 3, H, W].
 *
 *     out_p = Σ_q g_q I_q / Σ_q g_q,   g_q = c_q⁻² exp(−2 (r_pq / c_q)^exponent),   only q with c_q > 1; copied where c_p ≤ 1
 */
export function gatherBlurs(engine: TorchEngine, { picture, blurRadius, exponent }: GatherInput, { window }: { window: number }): Tensor {
  return scope(() => {
    const half = (window - 1) / 2;
    const [B, P, H, W] = blurRadius.shape as [number, number, number, number];
    const c = blurRadius.maximum(1);
    const peak = blurRadius.greater(1).where(c.pow(-2), 0);
    const steepness = c
      .log()
      .mul(exponent.reshape([B, 1, 1, 1]))
      .neg()
      .exp()
      .mul(-2); // −2 c^−exponent
    const squares = engine.range(2 * half * half + 1).reshape([1, 2 * half * half + 1]);
    const reach = squares.greater(0).where(
      squares
        .maximum(1)
        .log()
        .mul(exponent.reshape([B, 1]).mul(0.5))
        .exp(),
      0,
    ); // r^exponent
    const blurred = engine.compute("aten::empty.memory_format", [B, P, 3, H, W], "f32", null, engine.device);
    const contiguous = (tensor: Tensor): Tensor => engine.compute("aten::contiguous", tensor);
    engine.native("gatherBlur", blurred, contiguous(picture), contiguous(peak), contiguous(steepness), contiguous(reach), window);
    return blurred;
  });
}
