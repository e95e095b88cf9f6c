import type { Dim } from "./dims.ts";

export type DType = "f32" | "f64" | "f16" | "bf16" | "i32" | "i64" | "u8" | "bool";

export type NumericArray = Float32Array | Float64Array | Uint8Array | Uint16Array | Int32Array | BigInt64Array;

export type Shape = readonly Dim[];

export interface ConvOptions {
  readonly bias?: Tensor | undefined;
  readonly stride?: number;
  /** Zeros added on each side of every spatial axis, in pixels (and planes, for conv3d). */
  readonly padding?: number;
}

export interface BatchNormOptions {
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly runningMean: Tensor;
  readonly runningVariance: Tensor;
  /** Normalise by the statistics of the batch and update the running ones. */
  readonly training: boolean;
  readonly momentum: number;
  readonly epsilon: number;
}

export interface GroupNormOptions {
  readonly groups: number;
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly epsilon: number;
}

export interface PoolOptions {
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly padding?: readonly number[];
}

/**
 * A value of an engine: numbers in memory (torch) or a value of the recorded graph (onnx). Operations never change their
 * operands. Two-operand operations broadcast as NumPy does; a number stands for a constant of this tensor's dtype.
 * Negative axes count from the end.
 */
export interface Tensor {
  readonly engine: Engine;
  readonly shape: Shape;
  readonly dtype: DType;

  add(other: Tensor | number): Tensor;
  sub(other: Tensor | number): Tensor;
  mul(other: Tensor | number): Tensor;
  div(other: Tensor | number): Tensor;
  maximum(other: Tensor | number): Tensor;
  pow(exponent: number): Tensor;

  neg(): Tensor;
  abs(): Tensor;
  exp(): Tensor;
  log(): Tensor;
  sqrt(): Tensor;
  square(): Tensor;
  relu(): Tensor;
  leakyRelu(slope: number): Tensor;
  sigmoid(): Tensor;
  clamp(range: { readonly min?: number; readonly max?: number }): Tensor;

  /** Comparisons give a bool tensor. */
  less(other: Tensor | number): Tensor;
  lessEqual(other: Tensor | number): Tensor;
  greater(other: Tensor | number): Tensor;
  greaterEqual(other: Tensor | number): Tensor;
  logicalAnd(other: Tensor): Tensor;
  /** `condition.where(a, b)`: a where this bool tensor is true, else b. At least one of them is a tensor. */
  where(ifTrue: Tensor | number, ifFalse: Tensor | number): Tensor;

  /** Over `axes`, or over all axes. The axes are dropped unless `keepAxes`. */
  sum(axes?: readonly number[], options?: { readonly keepAxes?: boolean }): Tensor;
  mean(axes?: readonly number[], options?: { readonly keepAxes?: boolean }): Tensor;
  max(axis: number, options?: { readonly keepAxes?: boolean }): Tensor;
  /** Index of the first maximum along `axis`, as i64. No gradient. */
  argmax(axis: number, options?: { readonly keepAxes?: boolean }): Tensor;
  softmax(axis: number): Tensor;
  /** Matrix product over the last two axes; leading axes broadcast. */
  matmul(other: Tensor): Tensor;
  /** X with A X = B, A = this [..., n, n], B [..., n, m]. The onnx engine throws: ONNX has no such operator. */
  solve(rightHandSide: Tensor): Tensor;

  reshape(shape: Shape): Tensor;
  permute(axes: readonly number[]): Tensor;
  unsqueeze(axis: number): Tensor;
  squeeze(axis: number): Tensor;
  /** Elements `start` to `end` (exclusive) along `axis`; negative ones count from the end. */
  slice(axis: number, range: { readonly start?: number; readonly end?: number }): Tensor;
  /** Broadcasts axes of length 1 to `shape`. */
  expand(shape: Shape): Tensor;
  flip(axis: number): Tensor;
  /** Adds zeros around the values: `amounts[i] = [before, after]` for axis i. */
  pad(amounts: readonly (readonly [number, number])[]): Tensor;
  cast(dtype: DType): Tensor;

  /** [B, C, h, w] with weight [O, C, k, k]. */
  conv2d(weight: Tensor, options?: ConvOptions): Tensor;
  /** [B, C, N, h, w] with weight [O, C, k, k, k]. */
  conv3d(weight: Tensor, options?: ConvOptions): Tensor;
  /** Per channel (axis 1) of a rank 2, 4 or 5 tensor. */
  batchNorm(options: BatchNormOptions): Tensor;
  groupNorm(options: GroupNormOptions): Tensor;
  /** Resamples the last two axes of a rank 4 or 5 tensor; pixel centres at half integers (`align_corners=False`), no antialiasing. */
  resize2d(size: readonly [Dim, Dim], mode: "nearest" | "bilinear"): Tensor;
  maxPool2d(options: PoolOptions): Tensor;
  /** Mean over windows of the last `kernel.length` (2 or 3) axes; padding does not count. */
  avgPool(options: PoolOptions): Tensor;

  /** Computes the values if that was deferred. A tensor that outlives the scope of its operands is computed when that scope ends. */
  settle(): void;
  /** Frees the memory now; the tensor must not be used again. Safe to repeat. */
  dispose(): void;
}

/** Creates tensors. A network is written against this and `Tensor` only. */
export interface Engine {
  /** A tensor with these values, row-major. `dtype` defaults to f32; `name` is its name in a recorded graph. */
  constant(
    values: ArrayLike<number> | NumericArray,
    options: { readonly shape: readonly number[]; readonly dtype?: DType; readonly name?: string },
  ): Tensor;
  full(shape: Shape, value: number, options?: { readonly dtype?: DType }): Tensor;
  /** 0, 1, …, length − 1. */
  range(length: Dim, options?: { readonly dtype?: DType }): Tensor;
  concat(tensors: readonly Tensor[], axis: number): Tensor;
  /** Runs `body` in the operands' own precision while reduced precision (autocast) is on. */
  fullPrecision<T>(body: () => T): T;
  /**
   * Where there is a kernel for them: L_depth, L_fv and the trend loss (`src/losses`) of p [B, N, H, W], with f [B, N], D* and `valid`
   * [B, 1, H, W], as one tensor [3] of means over the valid pixels, differentiable by p.
   */
  planeLosses?(
    maps: { readonly p: Tensor; readonly focusDistances: Tensor; readonly trueDepth: Tensor; readonly valid: Tensor },
    options: { readonly beta: number; readonly floor: number; readonly slope: number },
  ): Tensor | undefined;
  /**
   * Where there are kernels for it: a volume [B, C, N, h, w] with `contextOf`(its mean, then its maximum over the planes, [B, 2C, h, w])
   * added to every plane.
   */
  addPlaneContext?(volume: Tensor, contextOf: (pooled: Tensor) => Tensor): Tensor | undefined;
  /** Where there are kernels for them: the functions of the same name in `src/model/convexUpsampling.ts`, of constant images. */
  inFocus?(maps: { readonly features: Tensor; readonly images: Tensor; readonly p: Tensor }): Tensor | undefined;
  convexUpsample?(maps: { readonly logits: Tensor; readonly scores: Tensor; readonly start: Tensor }): Tensor | undefined;
  /** Where there are kernels for it: the function of the same name in `src/model/fineDetail.ts`, of constant images. */
  detailEnergies?(images: Tensor, filters: Tensor): readonly [Tensor, Tensor] | undefined;
  /** Where there is a kernel for it: what `detailLogs` in `src/model/fineDetail.ts` makes of them, with ℓ(x) = (log(x + floor) + centre) · scale. */
  detailLogs?(
    energies: readonly [Tensor, Tensor],
    options: { readonly planes: number; readonly floor: number; readonly centre: number; readonly scale: number },
  ): Tensor | undefined;
}
