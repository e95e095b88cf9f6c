import { elementCount } from "../dims.ts";
import type { BatchNormOptions, ConvOptions, DType, Tensor } from "../engine.ts";
import { keep } from "../scope.ts";
import type { TorchEngine } from "../torch/torchEngine.ts";
import type { Deferred } from "./deferred.ts";
import type { Kernels } from "./kernels.ts";
import type { PictureReader } from "./pictures.ts";
import { blocksOf, isLogit, isOverBlocks, logitWeight, weightOverBlocks } from "./shortcuts.ts";
import type { Summer } from "./sum.ts";
import type { InputParts, PartWeights, UpsampledConvolutions } from "./upsampled.ts";
import { TorchTensor } from "../torch/tensor.ts";

/** A convolution and the operations after it that are fused into it. */
interface Convolution {
  readonly input: TorchTensor;
  readonly weight: TorchTensor;
  readonly bias: TorchTensor | undefined;
  readonly stride: number;
  readonly padding: number;
  readonly norm: BatchNormOptions | undefined;
  readonly residual: TorchTensor | undefined;
  /** Slope of the activation for negative values: 1 is none, 0 is ReLU. */
  readonly slope: number;
}

interface Prepared {
  readonly weight: TorchTensor;
  /** f32. */
  readonly bias: TorchTensor;
}

const isPlain = ({ residual, slope }: Convolution): boolean => residual === undefined && slope === 1;

/** Convolutions that are deferred until it is known what follows them. */
export interface Convolutions {
  defer(input: TorchTensor, weight: TorchTensor, options: ConvOptions): TorchTensor;
  /** Frees the prepared weights. */
  dispose(): void;
}

interface Parts {
  readonly kernels: Kernels;
  readonly pictures: PictureReader;
  readonly sums: Summer;
  readonly upsampled: UpsampledConvolutions;
}

export function createConvolutions(
  engine: TorchEngine,
  { kernels, pictures, sums, upsampled, precision }: Parts & { readonly precision: DType },
): Convolutions {
  const keyOf = createKeys();
  const prepared = new Map<string, Prepared>();
  const merged = new Map<string, TorchTensor>(); // the summed biases of two convolutions that are added
  const upsampling = createUpsampledWriter(engine, upsampled, { precision, keyOf });
  const convolutions = new WeakMap<Deferred, Convolution>();

  const dtypeOf = ({ weight }: Convolution): DType => (weight.shape[0] === 1 ? "f32" : precision);

  const arrangement = (call: Convolution): string => (isOverBlocks(call) ? `blocks, ${call.padding}` : isLogit(call) ? "logit" : "plain");
  const prepare = (call: Convolution): Prepared =>
    cached(prepared, `${keyOf(call)} ${arrangement(call)}`, () => {
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
    const both = cached(merged, `${keyOf(call)} + ${keyOf(other)}`, () => keep(bias.add(second.bias)));
    const { input } = inputs({ ...call, residual: undefined }); // reading the residual would compute the other convolution again
    return kernels.convolve({ ...call, input, weight, bias: both, residual });
  };
  /** Convolutions that end in ReLU are left to cuDNN, whose fused kernel saves more than the copy. */
  const isWritten = (call: Convolution): boolean =>
    kernels.own && call.slope !== 0 && !call.residual && !isOverBlocks(call) && !isLogit(call);
  const inputs = (call: Convolution): Pick<Convolution, "input" | "residual"> => {
    const laidOut = (tensor: TorchTensor): TorchTensor => engine.channelsLast(tensor, dtypeOf(call));
    return { input: laidOut(call.input), residual: call.residual && laidOut(call.residual) };
  };

  const defer = (call: Convolution): TorchTensor => {
    const shape = outputShape(call);
    const parts = upsampling.parts(call);
    const placed: Pick<Deferred, "run" | "writeInto"> = parts
      ? kernels.placed({ shape, dtype: precision, writeInto: (target, first) => { upsampling.write(call, parts, target, first); } }) // prettier-ignore
      : {
          run: () => run(call),
          ...(isWritten(call)
            ? { writeInto: (target, first) => { kernels.convolveInto(target, first, { ...call, ...inputs(call), ...prepare(call) }); } } // prettier-ignore
            : {}),
        };
    const deferred: Deferred = {
      shape,
      dtype: dtypeOf(call),
      ...placed,
      normalised: (norm) => (isPlain(call) && !call.norm && !norm.training ? defer({ ...call, norm }) : undefined),
      plus(other) {
        const fits = other instanceof TorchTensor && other.dtype === dtypeOf(call) && other.shape.join() === shape.join();
        if (isPlain(call) && fits) return defer({ ...call, residual: other });
        return kernels.own && !isPlain(call) ? sums.sum(tensor, other) : undefined;
      },
      activated: (slope) => (call.slope === 1 ? defer({ ...call, slope }) : undefined),
      sliced: (axis, range) => (axis === 1 ? deferredSlice(engine, tensor, { axis, ...range }) : undefined),
    };
    convolutions.set(deferred, call);
    const tensor = engine.defer(deferred);
    return tensor;
  };

  return {
    defer: (input, weight, { bias, stride = 1, padding = 0 }) =>
      defer({ input, weight, bias: bias as TorchTensor | undefined, stride, padding, norm: undefined, residual: undefined, slope: 1 }),
    dispose() {
      for (const { weight, bias } of prepared.values()) for (const tensor of [weight, bias]) tensor.dispose();
      for (const tensor of merged.values()) tensor.dispose();
      for (const known of [prepared, merged]) known.clear();
      upsampling.dispose();
    },
  };
}

interface UpsampledWriter {
  /** The parts of a convolution's input if it is better done before upsampling. */
  parts(call: Convolution): InputParts | undefined;
  /** Writes its result into the channels of `target` starting at `first`. */
  write(call: Convolution, parts: InputParts, target: TorchTensor, first: number): void;
  dispose(): void;
}

function createUpsampledWriter(
  engine: TorchEngine,
  upsampled: UpsampledConvolutions,
  { precision, keyOf }: { readonly precision: DType; readonly keyOf: KeyOf },
): UpsampledWriter {
  const prepared = new Map<string, PartWeights & { readonly bias: TorchTensor }>();
  const layout = (parts: InputParts): string => parts.map((part) => `${part.first}${part.upsampled ? " upsampled" : ""}`).join();
  const arranged = (weight: TorchTensor): TorchTensor => keep(engine.channelsLast(weight.cast(precision)));
  return {
    parts: (call) => (isLogit(call) || call.residual || call.input.dtype !== precision ? undefined : upsampled.parts(call)),
    write(call, parts, target, first) {
      const weights = cached(prepared, `${keyOf(call)} ${layout(parts)}`, () => {
        const { weight, bias } = folded(engine, call);
        const { own, taps } = upsampled.weights(weight, parts);
        return { own: own && arranged(own), taps: taps.map(arranged), bias: keep(bias) };
      });
      upsampled.writeInto(target, first, { parts, weights, bias: weights.bias, slope: call.slope });
    },
    dispose() {
      for (const { own, taps, bias } of prepared.values()) for (const tensor of [...(own ? [own] : []), ...taps, bias]) tensor.dispose();
      prepared.clear();
    },
  };
}

/** All that the folded weights and bias of a convolution are made of, by identity. */
type KeyOf = (call: Convolution) => string;

function createKeys(): KeyOf {
  const numbers = new WeakMap<Tensor, number>();
  let count = 0;
  const numberOf = (tensor: Tensor | undefined): number | undefined => tensor && cached(numbers, tensor, () => count++);
  return ({ weight, bias, norm }) =>
    [...[weight, bias, norm?.weight, norm?.bias, norm?.runningMean, norm?.runningVariance].map(numberOf), norm?.epsilon].join();
}

function cached<K, V>(known: { get(key: K): V | undefined; set(key: K, value: V): unknown }, key: K, make: () => V): V {
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = make()));
  return value;
}

/** Weights and bias with the batch norm folded in: w · γ/√(σ² + ε) and β + (b − μ) · γ/√(σ² + ε). */
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

/**
 * A slice of a tensor that is not computed yet, itself deferred: the tensor is not computed only to slice it. Undefined if the tensor
 * has no such axis.
 */
function deferredSlice(
  engine: TorchEngine,
  tensor: TorchTensor,
  { axis, start, end }: { readonly axis: number; readonly start: number; readonly end: number | undefined },
): TorchTensor | undefined {
  const { shape, dtype } = tensor;
  const length = shape.at(axis);
  if (length === undefined) return undefined;
  const place = (at: number): number => Math.min(Math.max(at < 0 ? at + length : at, 0), length);
  const size = Math.max(place(end ?? length) - place(start), 0);
  const part: TorchTensor = engine.defer({
    shape: shape.with(axis, size),
    dtype,
    run: () => engine.compute("aten::slice.Tensor", tensor, axis, start, end ?? null),
    reshaped(to) {
      const fits = to.every((side) => side >= 0) && elementCount(to) === elementCount(part.shape);
      return fits ? engine.defer({ shape: to, dtype, run: () => engine.compute("aten::reshape", part, to) }) : undefined;
    },
  });
  return part;
}
