import { keep, scope } from "../engine/scope.ts";
import { createTorchEngine } from "../engine/torch/torchEngine.ts";
import { createCudaSession } from "../network/node/cudaSession.ts";
import { initialWeights } from "../model/state.ts";
import { createRandom } from "../random.ts";
import type { BenchRuntime, Work } from "./runtime.ts";

/** Enough to fill a GPU; the CPU only stands in for one in tests. */
const SIZES = { cuda: { side: 8192, values: 1 << 28, steps: 10 }, cpu: { side: 128, values: 1 << 16, steps: 2 } } as const;

/** libtorch on CUDA, as `dualfocus depth --device cuda` uses it. */
export function cudaRuntime({ device }: { readonly device: string }): BenchRuntime {
  const engine = createTorchEngine({ device });
  const { side, values, steps } = SIZES[device === "cpu" ? "cpu" : "cuda"];
  const filled = (shape: readonly number[], dtype: "f16" | "f32") => keep(engine.full(shape, 1 / side, { dtype }));
  const work = (amount: number, step: () => void, tensors: readonly { dispose(): void }[]): Promise<Work> =>
    Promise.resolve({
      amount: amount * steps,
      run: () => {
        for (let i = 0; i < steps; i++) scope(step);
        engine.synchronize();
        return Promise.resolve();
      },
      dispose: () => {
        for (const tensor of tensors) tensor.dispose();
        return Promise.resolve();
      },
    });
  return {
    device,
    description: `libtorch, ${device}, half precision, one captured graph per size; transfers to and from the device included`,
    planeByPlane: false,
    deviceMemory: () => engine.memory().peak,
    network: (config) => {
      const weights = initialWeights(config, createRandom(0)); // the values do not matter
      return Promise.resolve(createCudaSession({ config, weights }, { device, tuned: true, precision: device === "cpu" ? "f32" : "f16" }));
    },
    products: () => {
      const dtype = device === "cpu" ? "f32" : "f16"; // libtorch's CPU kernels for f16 are too slow to mean anything
      const [a, b] = [filled([side, side], dtype), filled([side, side], dtype)];
      return work(2 * side ** 3, () => void engine.compute("aten::mm", a, b), [a, b]);
    },
    copy: () => {
      const [from, to] = [filled([values], "f32"), filled([values], "f32")];
      const step = (): void => {
        engine.copy(to, from);
      };
      return work(2 * 4 * values, step, [from, to]);
    },
  };
}
