import type { BatchNormOptions, ConvOptions, Engine, PoolOptions, Tensor } from "../engine.ts";
import type { Deferred } from "../fusion/deferred.ts";
import { createKernels } from "../fusion/kernels.ts";
import { createPictureReader } from "../fusion/pictures.ts";
import { blocksOf, isOverBlocks, weightOverBlocks } from "../fusion/shortcuts.ts";
import { createUpsampledConvolutions, type InputParts, type Threshold } from "../fusion/upsampled.ts";
import { isChecked, isPacked, packs } from "./packs.ts";
import { TorchTensor } from "./tensor.ts";
import type { TorchEngine } from "./torchEngine.ts";
import { createPartKernels, type PartKernels } from "./trainingParts.ts";

/** Kernels for training, with gradients. Each returns undefined where libtorch's must do. */
export interface TrainingKernels extends PartKernels {
  /** Batch norm with the batch's statistics, deferred until it is known what follows it. */
  norm(x: TorchTensor, options: BatchNormOptions): TorchTensor | undefined;
  maxPool(x: TorchTensor, options: PoolOptions): TorchTensor | undefined;
  /**
   * The first convolution, over images, with stride 2: over their 2×2 blocks, which tensor cores can multiply. Convolutions over upsampled
   * maps: before upsampling.
   */
  convolution(input: TorchTensor, weight: TorchTensor, options: ConvOptions): TorchTensor | undefined;
  /** `images · scale` with one scale per channel, deferred to be fused with the first convolution. */
  scaled(images: TorchTensor, scale: Tensor | number): TorchTensor | undefined;
  /** Upsampling and concatenation, deferred if a convolution may follow that is better done before them, or the softmax of logits. */
  resize(input: TorchTensor, size: readonly [number, number], mode: "nearest" | "bilinear"): TorchTensor | undefined;
  concat(tensors: readonly TorchTensor[], axis: number): TorchTensor | undefined;
  readonly planeLosses: NonNullable<Engine["planeLosses"]>;
}

export interface TrainingOptions {
  /** When a convolution over upsampled maps is done before upsampling; for tests. */
  readonly worthwhile?: Threshold;
}

export function createTrainingKernels(engine: TorchEngine, { worthwhile }: TrainingOptions = {}): TrainingKernels {
  const [kernels, pictures] = [createKernels(engine, { tuned: false }), createPictureReader(engine)];
  const upsampled = createUpsampledConvolutions(engine, kernels, { worthwhile });
  const overBlocks = (images: TorchTensor, weight: TorchTensor, padding: number): TorchTensor => {
    const blocks = blocksOf({ engine, kernels, pictures }, images, { reach: padding, dtype: engine.isAutocast() ? "bf16" : "f32" });
    return engine.compute("aten::conv2d", blocks, weightOverBlocks(weight, padding));
  };
  const beforeUpsampling = (input: TorchTensor, weight: TorchTensor, parts: InputParts): TorchTensor => {
    const weights = upsampled.weights(weight, parts);
    const others = parts.filter(({ upsampled: from }) => !from).map(({ tensor }) => tensor);
    const convolve = (x: TorchTensor, by: TorchTensor, padding: readonly number[]): TorchTensor =>
      engine.compute(x.shape.length === 5 ? "aten::conv3d" : "aten::conv2d", x, by, null, [1], padding);
    const planes = input.shape.length === 5;
    const size = input.shape.slice(-2);
    let sum = weights.own && convolve(others.length === 1 ? (others[0] as TorchTensor) : engine.compute("aten::cat", others, 1), weights.own, [1]); // prettier-ignore
    parts
      .flatMap(({ upsampled: from }) => from ?? [])
      .forEach(({ source, mode }, i) => {
        const products = convolve(source, weights.taps[i] as TorchTensor, planes ? [1, 0, 0] : [0]);
        sum = engine.adopt(engine.native("trainWindow", sum ?? null, products, ...size, mode === "nearest"));
      });
    return sum as TorchTensor;
  };
  /** Autocast makes bf16 of the weights. */
  const isReady = ({ dtype }: TorchTensor, weight: TorchTensor): boolean => dtype === (engine.isAutocast() ? "bf16" : weight.dtype);
  return {
    norm: createNorm(engine),
    maxPool(x, { kernel, stride, padding = [0, 0] }) {
      const [[side, across], [step, aside], [before, left]] = [kernel, stride, padding];
      const square = kernel.length === 2 && side === across && step === aside && before === left;
      if (!square || x.shape.length !== 4 || !isPacked(x)) return undefined;
      return engine.adopt(engine.native("trainPool", x, side, step, before));
    },
    convolution(input, weight, { bias, stride = 1, padding = 0 }) {
      if (bias || packs[input.dtype] === undefined) return undefined;
      const shape = { input, weight, stride, padding };
      const parts = isReady(input, weight) ? upsampled.parts(shape) : undefined;
      if (parts) return beforeUpsampling(input, weight, parts);
      const isFree = (): boolean => pictures.behind(input) !== undefined || !engine.native("requiresGrad", input);
      return input.dtype === "f32" && isOverBlocks(shape) && isFree() ? overBlocks(input, weight, padding) : undefined;
    },
    scaled(images, scale) {
      const isImages =
        typeof scale !== "number" && images.shape.length === 4 && images.shape[1] === IMAGE_CHANNELS && images.dtype === "f32";
      return isImages && !engine.native("requiresGrad", images) ? pictures.scaledPerChannel(images, scale) : undefined;
    },
    resize(input, size, mode) {
      const { shape, dtype } = input;
      if (packs[dtype] === undefined || (shape.length === 5 && mode === "nearest")) return undefined;
      const run = (): TorchTensor => (mode === "bilinear" ? engine.resizeBilinear(input, size) : engine.resizeNearest(input, size));
      const deferred: Deferred = { shape: [...shape.slice(0, -2), ...size], dtype, run };
      if (shape.length === 4 && mode === "bilinear") {
        if (dtype !== "f32") return undefined;
        const softmaxed = (axis: number): TorchTensor | undefined =>
          axis === 1 ? engine.adopt(engine.native("trainSoftmax", input, ...size)) : undefined;
        return engine.defer({ ...deferred, softmaxed }); // maps of logits
      }
      upsampled.note(deferred, { source: input, mode });
      return engine.defer(deferred);
    },
    concat(tensors, axis) {
      const [head] = tensors;
      const waiting = tensors.some((tensor) => tensor.deferred && upsampled.isUpsampled(tensor.deferred));
      if (axis !== 1 || !head || !waiting || tensors.some(({ dtype }) => dtype !== head.dtype)) return undefined;
      const channels = tensors.reduce((sum, { shape }) => sum + (shape[1] as number), 0);
      const deferred: Deferred = {
        shape: head.shape.with(1, channels),
        dtype: head.dtype,
        run: () => engine.compute("aten::cat", tensors, axis),
      };
      upsampled.note(deferred, tensors);
      return engine.defer(deferred);
    },
    planeLosses({ p, focusDistances, trueDepth, valid }, { beta, floor, slope }) {
      const maps = [p, focusDistances, trueDepth, valid] as const;
      if ((p.dtype !== "f32" && !isChecked(engine, p)) || maps.some(({ dtype }) => dtype !== p.dtype)) return undefined;
      return engine.adopt(engine.native("planeLosses", ...maps, beta, floor, slope));
    },
    ...createPartKernels(engine),
  };
}

interface Call {
  readonly x: TorchTensor;
  readonly options: BatchNormOptions;
  readonly residual: TorchTensor | undefined;
  /** Slope of the activation for negative values: 1 is none, 0 is ReLU. */
  readonly slope: number;
  /** Whether the running statistics were moved; shared by all uses of one norm. */
  readonly running: { moved: boolean };
}

const IMAGE_CHANNELS = 3;

/**
 * The statistics, the normalisation, the sum with a residual and the activation in one operator (native/norm.h) instead of libtorch's four: a
 * third of the memory traffic less, and volumes as fast as images, for which libtorch has no kernel with the channels innermost.
 * If the result is used with an activation and without, it is computed for each; the running statistics move the first time only.
 */
function createNorm(engine: TorchEngine): TrainingKernels["norm"] {
  const run = ({ x, options, residual, slope, running }: Call): TorchTensor => {
    const { weight, bias, runningMean, runningVariance, epsilon } = options;
    const momentum = running.moved ? 0 : options.momentum;
    running.moved = true;
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
    const isMap = x.shape.length === 4 || x.shape.length === 5;
    if (!options.training || !isMap || !isPacked(x) || options.weight.dtype !== "f32") return undefined;
    return defer({ x, options, residual: undefined, slope: 1, running: { moved: false } });
  };
}
