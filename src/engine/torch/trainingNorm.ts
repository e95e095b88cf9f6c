import type { BatchNormOptions, Tensor } from "../engine.ts";
import type { Deferred } from "../fusion/deferred.ts";
import { TorchTensor } from "./tensor.ts";
import type { TorchEngine } from "./torchEngine.ts";

/** Batch norm in training, deferred until it is known what follows it; undefined where libtorch's kernels must do. */
export type TrainingNorm = (x: TorchTensor, options: BatchNormOptions) => TorchTensor | undefined;

interface Call {
  readonly x: TorchTensor;
  readonly options: BatchNormOptions;
  readonly residual: TorchTensor | undefined;
  /** Slope of the activation for negative values: 1 is none, 0 is ReLU. */
  readonly slope: number;
}

/** Channels that the kernels take at a time: 16 bytes. */
const packs: Partial<Record<string, number>> = { f32: 4, f16: 8, bf16: 8 };
const MOST_PACKS = 256;

/**
 * The statistics, the normalisation, the sum with a residual and the activation in one operator (native/norm.h) instead of libtorch's four: a
 * third of the memory traffic less, and volumes as fast as images, for which libtorch has no kernel with the channels innermost.
 * The result must be used once: each use would move the running statistics.
 */
export function createTrainingNorm(engine: TorchEngine): TrainingNorm {
  const run = ({ x, options, residual, slope }: Call): TorchTensor => {
    const { weight, bias, runningMean, runningVariance, momentum, epsilon } = options;
    const statistics = [weight, bias, runningMean, runningVariance, momentum, epsilon] as const;
    return engine.adopt(engine.native("batchNorm", x, ...statistics, slope, residual ?? null));
  };
  const defer = (call: Call): TorchTensor => {
    const { x, residual, slope } = call;
    const fits = (other: Tensor | number): other is TorchTensor =>
      other instanceof TorchTensor && other.dtype === x.dtype && other.shape.join() === x.shape.join();
    const deferred: Deferred = {
      shape: x.shape,
      dtype: x.dtype,
      run: () => run(call),
      plus: (other) => (!residual && slope === 1 && fits(other) ? defer({ ...call, residual: other }) : undefined),
      activated: (after) => (slope === 1 ? defer({ ...call, slope: after }) : undefined),
    };
    return engine.defer(deferred);
  };
  return (x, options) => {
    const channels = x.shape[1] ?? 0;
    const width = packs[x.dtype];
    const fits = width !== undefined && channels % width === 0 && channels / width <= MOST_PACKS;
    const isMap = x.shape.length === 4 || x.shape.length === 5;
    if (!options.training || !fits || !isMap || options.weight.dtype !== "f32") return undefined;
    return defer({ x, options, residual: undefined, slope: 1 });
  };
}
