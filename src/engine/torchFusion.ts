import type { BatchNormOptions, ConvOptions, DType, PoolOptions } from "./engine.ts";
import { keep } from "./scope.ts";
import type { TorchEngine } from "./torch.ts";
import type { Deferred } from "./torchDeferred.ts";
import { createKernels, type Choice, type Kernels } from "./torchKernels.ts";
import { createPictureReader } from "./torchPictures.ts";
import { blocksOf, isLogit, isOverBlocks, logitWeight, weightOverBlocks } from "./torchShortcuts.ts";
import { TorchTensor } from "./torchTensor.ts";

/** The arrangement of a network's operations for inference. */
export interface Fusion {
  /** Batch norm folded into the weights, the sum with a residual and the activation in the convolution's own kernel, channels innermost. */
  convolution(input: TorchTensor, weight: TorchTensor, options: ConvOptions): TorchTensor;
  /** Pictures in bytes, whose way to a first convolution is one kernel; undefined for anything else. */
  scaled(input: TorchTensor, factor: number): TorchTensor | undefined;
  /** Straight into its place where a concatenation follows. These two are undefined for what libtorch's own kernel does as well. */
  resize(input: TorchTensor, size: readonly [number, number], mode: "nearest" | "bilinear"): TorchTensor | undefined;
  maxPool(input: TorchTensor, options: PoolOptions): TorchTensor | undefined;
  concat(tensors: readonly TorchTensor[], axis: number): TorchTensor;
  /** What tuning measured. */
  readonly choices: readonly Choice[];
  /** Frees the weights as they were prepared; they are prepared again if need be. */
  dispose(): void;
}

export interface FusionOptions {
  /** Of convolutions and what lies between them. Convolutions to one channel (logits) and everything behind are f32. */
  readonly precision: "f32" | "f16" | "bf16";
  /** Measure on CUDA which kernel is fastest for each convolution when it is met first: seconds, for a network that runs often. */
  readonly tuned?: boolean;
}

/** One convolution and what was found to follow it. */
interface Convolution {
  readonly input: TorchTensor;
  readonly weight: TorchTensor;
  readonly bias: TorchTensor | undefined;
  readonly stride: number;
  readonly padding: number;
  readonly norm: BatchNormOptions | undefined;
  readonly residual: TorchTensor | undefined;
  /** Of the activation where the value is negative: 1 is none, 0 is ReLU. */
  readonly slope: number;
}

interface Prepared {
  readonly weight: TorchTensor;
  /** f32. */
  readonly bias: TorchTensor;
}

const isPlain = ({ residual, slope }: Convolution): boolean => residual === undefined && slope === 1;

export function createFusion(engine: TorchEngine, { precision, tuned = false }: FusionOptions): Fusion {
  const kernels = createKernels(engine, { tuned });
  const prepared = new Map<TorchTensor, Prepared>();
  const merged = new Map<TorchTensor, TorchTensor>(); // a convolution's bias and that of the one it is added to
  const convolutions = new WeakMap<Deferred, Convolution>();
  const pictures = createPictureReader(engine);

  const dtypeOf = ({ weight }: Convolution): DType => (weight.shape[0] === 1 ? "f32" : precision);

  const prepare = (call: Convolution): Prepared =>
    cached(prepared, call.weight, () => {
      const { weight, bias } = folded(engine, call);
      if (kernels.own && isLogit(call)) return { weight: keep(logitWeight(engine, weight)), bias: keep(bias) };
      const arranged = kernels.own && isOverBlocks(call) ? weightOverBlocks(weight, call.padding) : weight;
      return { weight: keep(engine.channelsLast(arranged.cast(dtypeOf(call)))), bias: keep(bias) };
    });

  const run = (call: Convolution): TorchTensor => {
    const { weight, bias } = prepare(call);
    if (kernels.own && isPlain(call) && isLogit(call)) return kernels.logit(engine.channelsLast(call.input), { weight, bias });
    if (kernels.own && isOverBlocks(call)) {
      const input = blocksOf({ engine, kernels, pictures }, call.input, { reach: call.padding, dtype: dtypeOf(call) });
      return kernels.convolve({ ...call, ...inputs({ ...call, input }), weight, bias, stride: 1, padding: 0 });
    }
    const other = call.residual?.deferred && convolutions.get(call.residual.deferred);
    if (!call.residual || !other || !isPlain(other)) return kernels.convolve({ ...call, ...inputs(call), weight, bias });
    const second = prepare(other);
    const residual = kernels.convolve({ ...other, ...inputs(other), weight: second.weight, bias: undefined });
    const both = cached(merged, call.weight, () => keep(bias.add(second.bias)));
    return kernels.convolve({ ...call, ...inputs(call), weight, bias: both, residual });
  };
  const inputs = (call: Convolution): Pick<Convolution, "input" | "residual"> => {
    const laidOut = (tensor: TorchTensor): TorchTensor => engine.channelsLast(tensor.cast(dtypeOf(call)));
    return { input: laidOut(call.input), residual: call.residual && laidOut(call.residual) };
  };

  const defer = (call: Convolution): TorchTensor => {
    const shape = outputShape(call);
    const deferred: Deferred = {
      shape,
      dtype: dtypeOf(call),
      run: () => run(call),
      normalised: (norm) => (isPlain(call) && !call.norm && !norm.training ? defer({ ...call, norm }) : undefined),
      plus(other) {
        const fits = other instanceof TorchTensor && other.dtype === dtypeOf(call) && other.shape.join() === shape.join();
        return isPlain(call) && fits ? defer({ ...call, residual: other }) : undefined;
      },
      activated: (slope) => (call.slope === 1 ? defer({ ...call, slope }) : undefined),
    };
    convolutions.set(deferred, call);
    return engine.defer(deferred);
  };

  return {
    choices: kernels.choices,
    dispose() {
      for (const { weight, bias } of prepared.values()) for (const tensor of [weight, bias]) tensor.dispose();
      for (const tensor of merged.values()) tensor.dispose();
      prepared.clear();
      merged.clear();
    },
    convolution: (input, weight, { bias, stride = 1, padding = 0 }) =>
      defer({ input, weight, bias: bias as TorchTensor | undefined, stride, padding, norm: undefined, residual: undefined, slope: 1 }),
    scaled: (input, factor) => (kernels.own ? pictures.scaled(input, factor) : undefined),
    resize(input, size, mode) {
      const isMap = input.shape.length === 4 && input.dtype === "f32"; // libtorch's kernel, channels outermost
      if (!kernels.own || (isMap && precision !== "f32") || (isMap && mode === "bilinear")) return undefined;
      return engine.defer(deferredResize(kernels, engine.channelsLast(input), { size, mode }));
    },
    maxPool(input, { kernel, stride, padding = [0, 0] }) {
      const square = [kernel, stride, padding].every(([down, across]) => down === across) && kernel.length === 2;
      if (!kernels.own || !square || input.shape.length !== 4 || input.dtype !== precision) return undefined;
      return kernels.maxPool(engine.channelsLast(input), {
        side: kernel[0] as number,
        stride: stride[0] as number,
        padding: padding[0] as number,
      });
    },
    concat(tensors, axis) {
      const [head] = tensors;
      const alike = kernels.own && axis === 1 && (head?.shape.length ?? 0) >= 4 && tensors.every(({ dtype }) => dtype === head?.dtype);
      return alike && head?.dtype === precision ? kernels.join(tensors) : engine.compute("aten::cat", tensors, axis);
    },
  };
}

function cached<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = make()));
  return value;
}

/** Weights and bias with the batch norm in them: w · γ/√(σ² + ε) and β + (b − μ) · γ/√(σ² + ε). */
function folded(engine: TorchEngine, { weight, bias, norm }: Convolution): Prepared {
  const outputs = weight.shape[0] as number;
  const perRow = [outputs, ...weight.shape.slice(1).map(() => 1)];
  if (!norm) return { weight, bias: bias ? engine.compute("aten::clone", bias) : engine.full([outputs], 0) };
  const scale = norm.weight.div(norm.runningVariance.add(norm.epsilon).sqrt());
  const centre = bias ? bias.sub(norm.runningMean) : norm.runningMean.neg();
  return { weight: weight.mul(scale.reshape(perRow)), bias: norm.bias.add(centre.mul(scale)) as TorchTensor };
}

function outputShape({ input, weight, stride, padding }: Convolution): number[] {
  const [outputs = 0, , ...kernel] = weight.shape;
  const size = kernel.map((k, i) => Math.floor(((input.shape[i + 2] as number) + 2 * padding - k) / stride) + 1);
  return [input.shape[0] as number, outputs, ...size];
}

function deferredResize(
  kernels: Kernels,
  input: TorchTensor,
  { size, mode }: { readonly size: readonly [number, number]; readonly mode: "nearest" | "bilinear" },
): Deferred {
  const shape = [...input.shape.slice(0, -2), ...size];
  const writeInto = (target: TorchTensor, first: number): void => {
    kernels.resampleInto(target, first, { source: input, mode });
  };
  return {
    shape,
    dtype: input.dtype,
    run() {
      const target = kernels.empty(shape, input.dtype);
      writeInto(target, 0);
      return target;
    },
    writeInto,
  };
}
