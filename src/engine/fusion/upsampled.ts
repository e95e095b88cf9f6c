import { elementCount } from "../dims.ts";
import type { Tensor } from "../engine.ts";
import type { TorchEngine } from "../torch/torchEngine.ts";
import type { TorchTensor } from "../torch/tensor.ts";
import type { Deferred } from "./deferred.ts";
import type { Kernels } from "./kernels.ts";
import type { ConvolutionShape } from "./shortcuts.ts";

/** Maps that are to be upsampled. */
interface Upsampled {
  readonly source: TorchTensor;
  readonly mode: "nearest" | "bilinear";
}

/** A part of a convolution's input: its first channel, its tensor and, if it is upsampled, from what. */
interface Part {
  readonly first: number;
  readonly tensor: TorchTensor;
  readonly upsampled: Upsampled | undefined;
}

export type InputParts = readonly Part[];

/** The weights of a convolution, part by part: those of the upsampled parts as [9 · out, in, (3,) 1, 1]. */
export interface PartWeights {
  readonly own: TorchTensor | undefined;
  readonly taps: readonly TorchTensor[];
}

/**
 * A 3×3 (or 3×3×3) convolution over upsampled maps mixes their channels before upsampling: the product with each of the nine weights of a
 * window is taken on the small maps, and the nine are upsampled, shifted and added up in one kernel. Upsampling by two saves three
 * quarters of the multiplications, by four fifteen sixteenths.
 */
export interface UpsampledConvolutions {
  /** Remembers what a deferred tensor is upsampled from, or concatenated from. */
  note(deferred: Deferred, from: Upsampled | readonly TorchTensor[]): void;
  isUpsampled(deferred: Deferred): boolean;
  /** The parts of the input if that saves enough; undefined if the convolution is better done on the input itself. */
  parts(call: ConvolutionShape): InputParts | undefined;
  weights(weight: Tensor, parts: InputParts): PartWeights;
  /** a(convolution + bias) into the channels of `target` starting at `first`. */
  writeInto(target: TorchTensor, first: number, call: UpsampledCall): void;
}

export interface UpsampledCall {
  readonly parts: InputParts;
  readonly weights: PartWeights;
  /** f32. */
  readonly bias: TorchTensor;
  readonly slope: number;
}

/** As in native/fuse.h. */
const MOST_SOURCES = 3;

/** When a convolution is done before upsampling. */
export interface Threshold {
  /** Multiplications that must be saved: about what a GPU does in the time that the additional kernels take. */
  readonly multiplications: number;
  /** Channels below which adding up the nine products takes longer than the multiplications it saves. */
  readonly channels: number;
}

const WORTHWHILE: Threshold = { multiplications: 3e9, channels: 64 };

export function createUpsampledConvolutions(
  engine: TorchEngine,
  kernels: Kernels,
  { worthwhile = WORTHWHILE }: { readonly worthwhile?: Threshold | undefined },
): UpsampledConvolutions {
  const upsamplings = new WeakMap<Deferred, Upsampled>();
  const joins = new WeakMap<Deferred, readonly TorchTensor[]>();

  const partsOf = (input: TorchTensor): Part[] => {
    const tensors = (input.deferred && joins.get(input.deferred)) ?? [input];
    let first = 0;
    return tensors.map((tensor) => {
      const channels = tensor.shape[1] as number;
      const isWide = channels >= worthwhile.channels;
      const part = { first, tensor, upsampled: isWide && tensor.deferred ? upsamplings.get(tensor.deferred) : undefined };
      first += channels;
      return part;
    });
  };
  const convolve = (input: TorchTensor, weight: TorchTensor, padding: readonly number[]): TorchTensor =>
    kernels.convolve({ input: engine.channelsLast(input), weight, bias: undefined, residual: undefined, stride: 1, padding, slope: 1 });

  return {
    note(deferred, from) {
      if ("source" in from) upsamplings.set(deferred, from);
      else joins.set(deferred, from);
    },
    parts(call) {
      if (!kernels.own || !isWindow(call)) return undefined;
      const parts = partsOf(call.input);
      const sources = parts.filter(({ upsampled }) => upsampled);
      const oneMode = new Set(sources.map(({ upsampled }) => upsampled?.mode)).size === 1;
      const saved = sources.reduce((sum, part) => sum + savedBy(part, call), 0);
      return oneMode && sources.length <= MOST_SOURCES && saved >= worthwhile.multiplications ? parts : undefined;
    },
    isUpsampled: (deferred) => upsamplings.has(deferred),
    weights(weight, parts) {
      const slices = parts.map(({ first, tensor, upsampled }) => ({
        part: weight.slice(1, { start: first, end: first + (tensor.shape[1] as number) }),
        upsampled,
      }));
      const own = slices.filter(({ upsampled }) => !upsampled).map(({ part }) => part);
      return {
        own: own.length > 1 ? engine.compute("aten::cat", own, 1) : (own[0] as TorchTensor | undefined),
        taps: slices.filter(({ upsampled }) => upsampled).map(({ part }) => asTaps(part) as TorchTensor),
      };
    },
    writeInto(target, first, { parts, weights, bias, slope }) {
      const others = parts.filter(({ upsampled }) => !upsampled).map(({ tensor }) => tensor);
      const sources = parts.flatMap(({ upsampled }) => (upsampled ? [upsampled] : []));
      const planes = target.shape.length === 5;
      const own = weights.own && convolve(others.length === 1 ? (others[0] as TorchTensor) : engine.defer(kernels.join(others)), weights.own, planes ? [1, 1, 1] : [1, 1]); // prettier-ignore
      const products = sources.map(({ source }, i) => convolve(source, weights.taps[i] as TorchTensor, planes ? [1, 0, 0] : [0, 0]));
      engine.native("windowSum", target, first, own ?? null, bias, slope, sources[0]?.mode === "nearest", ...products);
    },
  };
}

/** 3×3 or 3×3×3, padded to keep the size. */
function isWindow({ weight, stride, padding }: ConvolutionShape): boolean {
  const kernel = weight.shape.slice(2);
  return stride === 1 && padding === 1 && kernel.every((side) => side === 3);
}

/** Multiplications on the upsampled maps less those on the maps themselves. */
function savedBy({ tensor, upsampled }: Part, { weight }: ConvolutionShape): number {
  if (!upsampled) return 0;
  const perPixel = elementCount(weight.shape.with(1, 1));
  return perPixel * (elementCount(tensor.shape) - elementCount(upsampled.source.shape));
}

/** [out, in, (3,) 3, 3] → [9 · out, in, (3,) 1, 1], row by row of the window. */
function asTaps(weight: Tensor): Tensor {
  const [out = 0, channels = 0, ...kernel] = weight.shape as readonly number[];
  const planes = kernel.slice(0, -2);
  const axes = weight.shape.map((_, axis) => axis);
  return weight.permute([...axes.slice(-2), ...axes.slice(0, -2)]).reshape([9 * out, channels, ...planes, 1, 1]);
}
