import type { BatchNormOptions, DType, Tensor } from "../engine.ts";
import type { TorchTensor } from "../torch/tensor.ts";

/**
 * A result that is computed when its values are needed, so that the next operation can be fused into the same kernel. Each method
 * offers one operation; it is missing, or returns undefined, if that operation cannot be fused.
 */
export interface Deferred {
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** Computes it; the caller owns the tensor. */
  run(): TorchTensor;
  normalised?(norm: BatchNormOptions): TorchTensor | undefined;
  plus?(other: Tensor | number): TorchTensor | undefined;
  times?(other: Tensor | number): TorchTensor | undefined;
  activated?(slope: number): TorchTensor | undefined;
  softmaxed?(axis: number): TorchTensor | undefined;
  summed?(axes: readonly number[], options: { readonly keepAxes: boolean }): TorchTensor | undefined;
  sliced?(axis: number, range: { readonly start: number; readonly end: number | undefined }): TorchTensor | undefined;
  reshaped?(shape: readonly number[]): TorchTensor | undefined;
  /** Writes the result into the channels of `target` starting at `first`. */
  writeInto?(target: TorchTensor, first: number): void;
}
