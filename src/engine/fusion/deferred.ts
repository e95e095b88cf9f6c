import type { BatchNormOptions, DType, Tensor } from "../engine.ts";
import type { TorchTensor } from "../torch/tensor.ts";

/**
 * A result that is computed when somebody looks at it, so that what is done to it next can become part of the same kernel. What is
 * done next is asked of it; the answer is left out, or undefined, where it has to be an operation of its own.
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
  /** Writes the result into channels `first` … of `target`. */
  writeInto?(target: TorchTensor, first: number): void;
}
