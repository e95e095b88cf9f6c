import type { Tensor } from "../engine/engine.ts";
import { keep } from "../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch/torchEngine.ts";
import type { TrainConfig } from "./config.ts";

export type AdamConfig = TrainConfig["adam"];

/** Running means of the gradient (m) and of its square (v). */
export interface Moments {
  readonly first: TorchTensor;
  readonly second: TorchTensor;
}

/**
 * Adam (Kingma and Ba 2015). Step t, with gradient g:
 *
 *     m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²
 *     p ← p − rate · (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)
 */
export interface Adam {
  readonly moments: ReadonlyMap<string, Moments>;
  /** Sets t and the rate of the next `apply`, on the device and without waiting for it. */
  prepare(next: { readonly step: number; readonly rate: number }): void;
  /** One step. On CUDA nothing in it depends on the host, so that a graph can capture it. */
  apply(gradients: readonly Tensor[]): void;
}

export function createAdam(engine: TorchEngine, parameters: ReadonlyMap<string, Tensor>, config: AdamConfig): Adam {
  const like = (parameter: Tensor): TorchTensor => keep(engine.compute("aten::zeros_like", parameter));
  const moments = new Map([...parameters].map(([name, parameter]) => [name, { first: like(parameter), second: like(parameter) }]));
  const lists = {
    parameters: [...parameters.values()],
    first: [...moments.values()].map(({ first }) => first),
    second: [...moments.values()].map(({ second }) => second),
  };
  const update = engine.device.startsWith("cuda") ? fusedUpdate(engine, lists, config) : foreachUpdate(engine, lists, config);
  return { moments, ...update };
}

interface Lists {
  readonly parameters: readonly Tensor[];
  readonly first: readonly Tensor[];
  readonly second: readonly Tensor[];
}

type Update = Pick<Adam, "prepare" | "apply">;

/** One kernel for all parameters; t and the rate are read from the device, so a captured graph sees new ones. */
function fusedUpdate(engine: TorchEngine, { parameters, first, second }: Lists, { beta1, beta2, epsilon }: AdamConfig): Update {
  const rate = keep(engine.full([], 0));
  const step = keep(engine.full([], 0));
  const steps = parameters.map(() => step);
  return {
    prepare(next) {
      engine.noGradient(() => {
        engine.compute("aten::fill_.Scalar", rate, next.rate).dispose();
        engine.compute("aten::fill_.Scalar", step, next.step).dispose();
      });
    },
    apply(gradients) {
      const fixed = [rate, beta1, beta2, 0, epsilon, false, false] as const; // no weight decay, no amsgrad, minimise
      engine.noGradient(() => engine.call("aten::_fused_adam_.tensor_lr", parameters, gradients, first, second, [], steps, ...fixed));
    },
  };
}

function foreachUpdate(engine: TorchEngine, { parameters, first, second }: Lists, { beta1, beta2, epsilon }: AdamConfig): Update {
  let [rate, step] = [0, 1];
  return {
    prepare(next) {
      ({ rate, step } = next);
    },
    apply(gradients) {
      engine.noGradient(() => {
        engine.call("aten::_foreach_mul_.Scalar", first, beta1);
        engine.call("aten::_foreach_add_.List", first, gradients, 1 - beta1);
        engine.call("aten::_foreach_mul_.Scalar", second, beta2);
        engine.call("aten::_foreach_addcmul_.Scalar", second, gradients, gradients, 1 - beta2);
        const divisor = engine.call("aten::_foreach_sqrt", second) as TorchTensor[];
        engine.call("aten::_foreach_div_.Scalar", divisor, Math.sqrt(1 - beta2 ** step));
        engine.call("aten::_foreach_add_.Scalar", divisor, epsilon);
        engine.call("aten::_foreach_addcdiv_.Scalar", parameters, first, divisor, -rate / (1 - beta1 ** step));
        for (const tensor of divisor) tensor.dispose();
      });
    },
  };
}
