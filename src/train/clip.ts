import type { Tensor } from "../engine/engine.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch/torchEngine.ts";

/**
 * Scales all gradients, in place, so that their common norm is at most `maxNorm`; returns the norm before, on the device.
 *
 *     g ← g · min(1, maxNorm / (‖g‖₂ + 1e-6))
 *
 * Nothing is read back, so the device never waits and a CUDA graph can capture it.
 */
export function clipGradients(engine: TorchEngine, gradients: readonly Tensor[], maxNorm: number): TorchTensor {
  return engine.noGradient(() => {
    const norms = engine.call("aten::_foreach_norm.Scalar", gradients, 2) as TorchTensor[];
    const norm = engine.compute("aten::linalg_vector_norm", engine.compute("aten::stack", norms));
    const factor = engine.compute("aten::clamp", norm.add(1e-6).pow(-1).mul(maxNorm), null, 1);
    if (engine.device.startsWith("cuda")) engine.call("aten::_foreach_mul_.Tensor", gradients, factor);
    else for (const gradient of gradients) engine.call("aten::mul_.Tensor", gradient, factor); // libtorch 1.13 has no such foreach
    return norm;
  });
}
