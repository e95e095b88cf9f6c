import type { Tensor } from "../engine/engine.ts";
import { keep } from "../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch/torchEngine.ts";
import type { TrainConfig } from "./config.ts";

/** Exponential moving average of the weights, running statistics included: what is evaluated and shipped. */
export interface Ema {
  readonly averages: ReadonlyMap<string, TorchTensor>;
  /** Call after step `step` (1, 2, …): moves the averages when an update is due. */
  update(step: number): void;
  /** Runs `body` with the averages in place of the weights. */
  withAverages<T>(body: () => Promise<T>): Promise<T>;
}

export function createEma(engine: TorchEngine, state: ReadonlyMap<string, Tensor>, { decay, every }: TrainConfig["ema"]): Ema {
  const clone = (tensor: Tensor): TorchTensor => engine.noGradient(() => keep(engine.compute("aten::clone", tensor)));
  const averages = new Map([...state].map(([name, tensor]) => [name, clone(tensor)]));
  const [weights, means] = [[...state.values()], [...averages.values()]];

  return {
    averages,
    update(step) {
      if (step % every !== 0) return;
      const stays = Math.min(decay, (1 + step) / (10 + step)) ** every; // young averages follow faster
      engine.noGradient(() => {
        engine.call("aten::_foreach_mul_.Scalar", means, stays);
        engine.call("aten::_foreach_add_.List", means, weights, 1 - stays);
      });
    },
    async withAverages(body) {
      const own = weights.map(clone);
      weights.forEach((weight, i) => {
        engine.copy(weight, means[i] as TorchTensor);
      });
      try {
        return await body();
      } finally {
        weights.forEach((weight, i) => {
          engine.copy(weight, own[i] as TorchTensor);
        });
        for (const tensor of own) tensor.dispose();
      }
    },
  };
}
