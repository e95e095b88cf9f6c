import type { ConvOptions, PoolOptions } from "../engine.ts";
import type { TorchEngine } from "../torch/torchEngine.ts";
import { createConvolutions } from "./convolution.ts";
import { createDifferences, PLANE_AXIS, type PlaneRange } from "./differences.ts";
import { createKernels, type Choice, type Kernels } from "./kernels.ts";
import { createPictureReader } from "./pictures.ts";
import { createPlaneReader, type Readout } from "./readout.ts";
import { createSummer, type Summer } from "./sum.ts";
import type { TorchTensor } from "../torch/tensor.ts";
import { createUpsampledConvolutions, type Threshold } from "./upsampled.ts";

/** Fused kernels for a network's operations at inference. */
export interface Fusion {
  /** Batch norm folded into the weights, the sum with a residual and the activation in the convolution's own kernel, channels innermost. */
  convolution(input: TorchTensor, weight: TorchTensor, options: ConvOptions): TorchTensor;
  /** Images in bytes, which the first convolution reads in one kernel; undefined for any other tensor. */
  scaled(input: TorchTensor, factor: number): TorchTensor | undefined;
  /** Written straight into a concatenation that follows. Resizing and pooling return undefined where libtorch's kernel is as good. */
  resize(input: TorchTensor, size: readonly [number, number], mode: "nearest" | "bilinear"): TorchTensor | undefined;
  maxPool(input: TorchTensor, options: PoolOptions): TorchTensor | undefined;
  meanPool(input: TorchTensor, options: PoolOptions): TorchTensor | undefined;
  /** Concatenations along the channels are written when their values are needed, or as part of a wider one. */
  concat(tensors: readonly TorchTensor[], axis: number): TorchTensor;
  /** Slices of a volume's planes and their difference: the parts of a concatenation of differences. */
  slice(input: TorchTensor, axis: number, range: PlaneRange): TorchTensor | undefined;
  difference(first: TorchTensor, second: TorchTensor): TorchTensor | undefined;
  /** p, depth and spread in one kernel; undefined if p is already computed. */
  readOut(probability: TorchTensor, distances: TorchTensor): Readout | undefined;
  /** The measurements of the tuning. */
  readonly choices: readonly Choice[];
  /** Frees the prepared weights; they are prepared again when needed. */
  dispose(): void;
}

export interface FusionOptions {
  /** Precision of convolutions and of the operations between them. Convolutions to one channel (logits) and what follows are f32. */
  readonly precision: "f32" | "f16" | "bf16";
  /** On CUDA, time the kernels for each convolution when it first occurs and use the fastest. Takes seconds; worth it for a network that runs often. */
  readonly tuned?: boolean;
  /** When a convolution over upsampled maps is done before upsampling; for tests. */
  readonly worthwhile?: Threshold;
}

export function createFusion(engine: TorchEngine, { precision, tuned = false, worthwhile }: FusionOptions): Fusion {
  const kernels = createKernels(engine, { tuned });
  const pictures = createPictureReader(engine);
  const planes = createPlaneReader(engine);
  const differences = createDifferences(engine, kernels);
  const sums = createSummer(engine, kernels);
  const upsampled = createUpsampledConvolutions(engine, kernels, { worthwhile });
  const convolutions = createConvolutions(engine, { kernels, pictures, sums, upsampled, precision });
  return {
    choices: kernels.choices,
    dispose: () => {
      convolutions.dispose();
    },
    convolution: (input, weight, options) => convolutions.defer(input, weight, options),
    readOut: (probability, distances) => planes.readOut(probability, distances),
    scaled: (input, factor) => (kernels.own ? pictures.scaled(input, factor) : undefined),
    resize(input, size, mode) {
      const isMap = input.shape.length === 4 && input.dtype === "f32"; // libtorch's kernel, channels outermost
      if (kernels.own && isMap && mode === "bilinear") return planes.resized(input, size);
      if (!kernels.own || (isMap && precision !== "f32")) return undefined;
      const source = engine.channelsLast(input);
      const resized = deferredResize({ engine, kernels, sums }, source, { size, mode });
      if (resized.deferred) upsampled.note(resized.deferred, { source, mode });
      return resized;
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
    meanPool(input, options) {
      if (!kernels.own || input.shape.length !== 4 || input.dtype !== precision) return undefined;
      return kernels.meanPool(engine.channelsLast(input), options);
    },
    concat(tensors, axis) {
      const apart = ({ shape }: TorchTensor): string => shape.with(1, 0).join();
      const [head] = tensors;
      const alike = (other: TorchTensor): boolean => other.dtype === precision && head !== undefined && apart(other) === apart(head);
      if (kernels.own && axis === 1 && (head?.shape.length ?? 0) >= 4 && tensors.every(alike)) {
        const joined = kernels.join(tensors);
        upsampled.note(joined, tensors);
        return engine.defer(joined);
      }
      return (axis === PLANE_AXIS ? differences.concat(tensors) : undefined) ?? engine.compute("aten::cat", tensors, axis);
    },
    slice(input, axis, range) {
      const isVolume = kernels.own && axis === PLANE_AXIS && input.shape.length === 5 && input.dtype === precision;
      return isVolume ? differences.slice(input, range) : undefined;
    },
    difference: (first, second) => differences.sub(first, second),
  };
}

function deferredResize(
  { engine, kernels, sums }: { readonly engine: TorchEngine; readonly kernels: Kernels; readonly sums: Summer },
  input: TorchTensor,
  { size, mode }: { readonly size: readonly [number, number]; readonly mode: "nearest" | "bilinear" },
): TorchTensor {
  const shape = [...input.shape.slice(0, -2), ...size];
  const writeInto = (target: TorchTensor, first: number): void => {
    kernels.resampleInto(target, first, { source: input, mode });
  };
  const placed = kernels.placed({ shape, dtype: input.dtype, writeInto });
  const tensor: TorchTensor = engine.defer({ ...placed, plus: (other) => sums.sum(tensor, other) });
  return tensor;
}
