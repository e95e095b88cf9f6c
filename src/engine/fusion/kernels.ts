import type { DType, PoolOptions } from "../engine.ts";
import { EngineError } from "../errors.ts";
import { keep, scope } from "../scope.ts";
import type { TorchEngine } from "../torch/torchEngine.ts";
import type { Deferred } from "./deferred.ts";
import type { TorchTensor } from "../torch/tensor.ts";

/** A convolution whose operands have the same dtype and their channels innermost. */
export interface ReadyConvolution {
  readonly input: TorchTensor;
  readonly weight: TorchTensor;
  /** f32. */
  readonly bias: TorchTensor | undefined;
  readonly residual: TorchTensor | undefined;
  readonly stride: number;
  /** The same along all axes, or one for each. */
  readonly padding: number | readonly number[];
  /** Slope of the activation for negative values: 1 is none, 0 is ReLU. */
  readonly slope: number;
}

/** The kernels of the addon and of the device's libraries for inference. Channels are innermost throughout. */
export interface Kernels {
  convolve(call: ReadyConvolution): TorchTensor;
  /** The same, written into the channels of `target` starting at `first` by the last pass over the result; cuDNN's fused kernels have no such pass. */
  convolveInto(target: TorchTensor, first: number, call: ReadyConvolution & { readonly bias: TorchTensor }): void;
  /** Whether the addon's own kernels exist, which everything but `convolve` and `empty` needs. */
  readonly own: boolean;
  resampleInto(target: TorchTensor, first: number, from: { readonly source: TorchTensor; readonly mode: "nearest" | "bilinear" }): void;
  maxPool(input: TorchTensor, window: { readonly side: number; readonly stride: number; readonly padding: number }): TorchTensor;
  /** Undefined for windows that libtorch does not accept either. */
  meanPool(input: TorchTensor, options: PoolOptions): TorchTensor | undefined;
  /** A 3×3×3 convolution to one channel, in f32. */
  logit(input: TorchTensor, prepared: { readonly weight: TorchTensor; readonly bias: TorchTensor }): TorchTensor;
  /** A result that `writeInto` writes into the channels of a wider tensor, or into a tensor of its own. */
  placed(result: Pick<Deferred, "shape" | "dtype"> & Required<Pick<Deferred, "writeInto">>): Deferred;
  /** Concatenation along the channels; operands that support it are computed straight into their place. */
  join(tensors: readonly TorchTensor[]): Deferred;
  empty(shape: readonly number[], dtype: DType): TorchTensor;
  /** The measurements so far. */
  readonly choices: readonly Choice[];
}

type Variant = (call: ReadyConvolution) => TorchTensor;

/** `tuned`: time every variant of a convolution and use the fastest, which takes some seconds at first. */
export function createKernels(engine: TorchEngine, { tuned }: { readonly tuned: boolean }): Kernels {
  const { compute, native } = engine;
  const format = (rank: number): string => (rank === 5 ? "channels_last_3d" : "channels_last");
  const empty: Kernels["empty"] = (shape, dtype) =>
    compute("aten::empty.memory_format", shape, dtype, null, engine.device, null, format(shape.length));
  const choices: Choice[] = [];
  const own = native("hasKernels", engine.device);
  const plain = separate(engine, own);
  const convolve = tuned && engine.device !== "cpu" ? fastestOf(engine, { separate: plain, cudnn: cudnn(engine) }, choices) : plain;
  const resampleInto: Kernels["resampleInto"] = (target, first, { source, mode }) => {
    native("resampleInto", target, first, source, mode === "nearest");
  };
  const placed: Kernels["placed"] = ({ shape, dtype, writeInto }) => {
    const run = (): TorchTensor => {
      const target = empty(shape, dtype);
      writeInto(target, 0);
      return target;
    };
    return { shape, dtype, run, writeInto };
  };
  return {
    convolve,
    convolveInto(target, first, call) {
      native("finishConvolution", product(engine, call), call.bias, call.residual ?? null, call.slope, target, first);
    },
    own,
    placed,
    resampleInto,
    maxPool(input, { side, stride, padding }) {
      const size = input.shape.slice(2).map((length) => Math.floor((length + 2 * padding - side) / stride) + 1);
      const target = empty([...input.shape.slice(0, 2), ...size], input.dtype);
      native("maxPool", target, input, side, stride, padding);
      return target;
    },
    meanPool(input, { kernel, stride, padding = [0, 0] }) {
      const [inside, at] = [input.shape.slice(2), (values: readonly number[], i: number): number => values[i] as number];
      const size = inside.map((length, i) => Math.floor((length + 2 * at(padding, i) - at(kernel, i)) / at(stride, i)) + 1);
      if (!size.every((length, i) => length > 0 && at(padding, i) >= 0 && 2 * at(padding, i) <= at(kernel, i))) return undefined;
      const target = empty([...input.shape.slice(0, 2), ...size], input.dtype);
      native("meanPool", target, input, kernel, stride, padding);
      return target;
    },
    logit(input, { weight, bias }) {
      const target = compute("aten::empty.memory_format", input.shape.with(1, 1), "f32", null, engine.device);
      native("logitConvolution", target, input, weight, bias);
      return target;
    },
    empty,
    choices,
    join(tensors) {
      const [head] = tensors;
      if (!head) throw new EngineError("concat: got no tensors");
      const widths = tensors.map(({ shape }) => shape[1] as number);
      const [shape, dtype] = [head.shape.with(1, widths.reduce((sum, width) => sum + width)), head.dtype]; // prettier-ignore
      const writeInto = (target: TorchTensor, start: number): void => {
        let first = start;
        tensors.forEach((tensor, i) => {
          if (tensor.deferred?.writeInto) tensor.deferred.writeInto(target, first);
          else resampleInto(target, first, { source: engine.channelsLast(tensor), mode: "nearest" });
          first += widths[i] as number;
        });
      };
      return placed({ shape, dtype, writeInto });
    },
  };
}

const each = (value: number | readonly number[], { input }: ReadyConvolution): readonly number[] =>
  typeof value === "number" ? input.shape.slice(2).map(() => value) : value;

/**
 * The convolution alone. On a CPU halves are convolved in f32 and rounded once, as a GPU's matrix units do: libtorch has no kernels for f16
 * there, and for bf16 some that depend on the processor.
 */
function product(engine: TorchEngine, call: ReadyConvolution): TorchTensor {
  const { input, weight, stride, padding } = call;
  const [transposed, groups] = [false, 1];
  const widened = engine.device === "cpu" && (input.dtype === "f16" || input.dtype === "bf16");
  const operands = widened ? [input.cast("f32"), weight.cast("f32")] : [input, weight];
  const result = engine.compute(
    ...(["aten::convolution", ...operands, null, each(stride, call), each(padding, call), each(1, call)] as const),
    ...[transposed, each(0, call), groups],
  );
  return engine.channelsLast(result, input.dtype);
}

/** The convolution, then one pass over its result for bias, residual and activation. */
function separate(engine: TorchEngine, own: boolean): Variant {
  return (call) => {
    const { bias, residual, slope } = call;
    const result = product(engine, call);
    if (!bias) return result;
    if (!own) return finishedByTorch(result, call);
    engine.native("finishConvolution", result, bias, residual ?? null, slope, null, 0);
    return result;
  };
}

function finishedByTorch(result: TorchTensor, { bias, residual, slope }: ReadyConvolution): TorchTensor {
  const shifted = bias ? result.add(bias.cast(result.dtype).reshape([-1, ...result.shape.slice(2).map(() => 1)])) : result;
  const sum = residual ? shifted.add(residual) : shifted;
  return slope === 1 ? sum : sum.leakyRelu(slope);
}

/** cuDNN's convolution with the epilogue fused in: ReLU only. */
function cudnn(engine: TorchEngine): Variant {
  const biases = new WeakMap<TorchTensor, TorchTensor>();
  const inDtype = (bias: TorchTensor, dtype: DType): TorchTensor => {
    const known = biases.get(bias) ?? keep(bias.cast(dtype));
    biases.set(bias, known);
    return known;
  };
  return (call) => {
    const { input, weight, bias, residual, stride, padding } = call;
    if (call.slope !== 0 || !bias) throw new EngineError("convolve: cuDNN's fused convolution ends in ReLU");
    const window = [each(stride, call), each(padding, call), each(1, call), 1] as const;
    const own = inDtype(bias, input.dtype);
    return residual
      ? engine.compute("aten::cudnn_convolution_add_relu", input, weight, residual, 1, own, ...window)
      : engine.compute("aten::cudnn_convolution_relu", input, weight, own, ...window);
  };
}

/** The timing of the variants for one shape of convolution. */
export interface Choice {
  readonly shape: string;
  /** By name of the variant. */
  readonly milliseconds: Readonly<Record<string, number>>;
  /** Variants that do not support this shape or library, with their error messages. */
  readonly refused: Readonly<Record<string, string>>;
}

const TRIALS = 8;
/** Largest relative difference between two variants: rounding to bf16, twice. */
const TOLERANCE = 2 ** -6;

/**
 * The fastest variant for a convolution of this shape, found when the shape first occurs (never while a graph is captured: the warm-up
 * runs come first). A variant that fails, or whose result differs from the first one's, is not used.
 */
function fastestOf(engine: TorchEngine, variants: Readonly<Record<string, Variant>>, choices: Choice[]): Variant {
  const chosen = new Map<string, Variant>();
  const [reference] = Object.values(variants) as [Variant];
  const choose = (call: ReadyConvolution): Variant => {
    const expected = reference(call);
    const refused: Record<string, string> = {};
    const timed = Object.entries(variants).flatMap(([name, variant]) => {
      try {
        return [{ name, variant, milliseconds: time(engine, () => variant(call), expected) }];
      } catch (error) {
        refused[name] = error instanceof Error ? error.message : String(error);
        return [];
      }
    });
    const milliseconds = Object.fromEntries(timed.map((each) => [each.name, each.milliseconds]));
    choices.push({ shape: keyOf(call), milliseconds, refused });
    return timed.sort((a, b) => a.milliseconds - b.milliseconds)[0]?.variant ?? reference;
  };
  return (call) => {
    const key = keyOf(call);
    let variant = chosen.get(key);
    if (!variant) chosen.set(key, (variant = scope(() => choose(call))));
    return variant(call);
  };
}

/** Timed in a CUDA graph, where launches cost nothing. */
function time(engine: TorchEngine, body: () => TorchTensor, expected: TorchTensor): number {
  scope(() => {
    const largest = (tensor: TorchTensor): number => engine.item(engine.compute("aten::max", tensor.cast("f32").abs()));
    const distance = largest(body().cast("f32").sub(expected.cast("f32")));
    if (!(distance <= TOLERANCE * largest(expected))) throw new EngineError("convolve: the results differ");
  });
  const graph = engine.captureGraph(() => {
    for (let i = 0; i < TRIALS; i++) body();
  });
  const runs = [1, 2, 3].map(() =>
    engine.milliseconds(() => {
      graph.replay();
    }),
  );
  graph.dispose();
  return Math.min(...runs) / TRIALS;
}

const keyOf = ({ input, weight, bias, residual, stride, slope }: ReadyConvolution): string =>
  [
    `[${input.shape.join(",")}] ${input.dtype}`,
    `[${weight.shape.join(",")}]`,
    `stride ${stride}`,
    ...(bias ? ["bias"] : []),
    ...(residual ? ["residual"] : []),
    ...(slope === 1 ? [] : [`slope ${slope}`]),
  ].join(" ");
