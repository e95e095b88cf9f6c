import type { DType, Tensor } from "../engine.ts";
import type { TorchEngine } from "../torch/torchEngine.ts";
import type { Kernels } from "./kernels.ts";
import type { PictureReader } from "./pictures.ts";
import type { TorchTensor } from "../torch/tensor.ts";

/** The properties of a convolution that decide whether a faster special case applies. */
export interface ConvolutionShape {
  readonly input: TorchTensor;
  readonly weight: TorchTensor;
  readonly stride: number;
  readonly padding: number;
}

/** Tensor cores process channels in groups of eight; an image's three channels would be padded with zeros. */
const FEW_CHANNELS = 4;
const CHANNEL_STEP = 8;

/** A convolution over images with stride 2 equals one with stride 1 over their 2×2 blocks: four times the channels, half the window. */
export function isOverBlocks({ input, weight, stride, padding }: ConvolutionShape): boolean {
  const [, channels = 0, ...kernel] = weight.shape;
  const halves = input.shape.slice(2).every((size) => size % 2 === 0);
  return channels <= FEW_CHANNELS && kernel.length === 2 && stride === 2 && kernel.every((side) => side === 2 * padding + 1) && halves;
}

/** The window of blocks that contains a window of `2 · reach + 1` pixels around a block's first pixel. */
function blockWindow(reach: number): { readonly before: number; readonly side: number } {
  const before = Math.ceil(reach / 2);
  return { before, side: before + Math.floor(reach / 2) + 1 };
}

/** [out, C, k, k] → [out, 4C and zeros, side, side]: each weight moved to the pixel and block it applies to. */
export function weightOverBlocks(weight: Tensor, reach: number): Tensor {
  const [out = 0, channels = 0] = weight.shape as readonly number[];
  const { before, side } = blockWindow(reach);
  const first = 2 * before - reach;
  const last = 2 * side - (2 * reach + 1) - first;
  const none = [0, 0] as const;
  const blocks = weight
    .pad([none, none, [first, last], [first, last]])
    .reshape([out, channels, side, 2, side, 2])
    .permute([0, 3, 5, 1, 2, 4])
    .reshape([out, 4 * channels, side, side]);
  const filled = Math.ceil((4 * channels) / CHANNEL_STEP) * CHANNEL_STEP;
  return blocks.pad([none, [0, filled - 4 * channels], none, none]);
}

/** The blocks of images, padded with the zeros that the window needs; the convolution over them needs no padding. */
export function blocksOf(
  { engine, kernels, pictures }: { readonly engine: TorchEngine; readonly kernels: Kernels; readonly pictures: PictureReader },
  input: TorchTensor,
  { reach, dtype }: { readonly reach: number; readonly dtype: DType },
): TorchTensor {
  const [count = 0, channels = 0, height = 0, width = 0] = input.shape;
  const { before, side } = blockWindow(reach);
  const filled = Math.ceil((4 * channels) / CHANNEL_STEP) * CHANNEL_STEP;
  const target = kernels.empty([count, filled, height / 2 + side - 1, width / 2 + side - 1], dtype);
  const rowMajor = (tensor: TorchTensor): TorchTensor => engine.compute("aten::contiguous", tensor);
  const seen = pictures.behind(input);
  if (seen) {
    const [scale, shift] = [seen.scale, seen.shift].map((each) => (each ? rowMajor(each) : null));
    engine.native("gatherBlocks", target, rowMajor(seen.bytes.reshape(input.shape)), before, seen.factor, scale, shift);
  } else engine.native("gatherBlocks", target, rowMajor(input.cast("f32")), before, 1, null, null);
  return target;
}

/** 3×3×3 to one channel: logits. A matrix unit would waste all but one of its rows and round to its own precision. */
export function isLogit({ weight, stride, padding }: ConvolutionShape): boolean {
  const [out, , ...kernel] = weight.shape;
  return out === 1 && kernel.length === 3 && kernel.every((side) => side === 3) && stride === 1 && padding === 1;
}

/** [1, C, 3, 3, 3] → [27, C]. */
export function logitWeight(engine: TorchEngine, weight: Tensor): TorchTensor {
  const channels = weight.shape[1] as number;
  return engine.compute("aten::contiguous", weight.permute([0, 2, 3, 4, 1]).reshape([27, channels]));
}
