import type { Handle } from "../../../native/addon.d.ts";
import { concrete } from "../dims.ts";
import type { Dim } from "../dims.ts";
import type { BatchNormOptions, ConvOptions, DType, GroupNormOptions, PoolOptions, Shape, Tensor } from "../engine.ts";
import { EngineError } from "../errors.ts";
import { keep } from "../scope.ts";
import { isSameMode, type Modes } from "./gradient.ts";
import type { TorchEngine } from "./torchEngine.ts";
import type { Deferred } from "../fusion/deferred.ts";

type Keep = { readonly keepAxes?: boolean };

/** Numbers in libtorch's memory. Shape and dtype are read when first needed. */
export class TorchTensor implements Tensor {
  readonly engine: TorchEngine;
  #handle: Handle | undefined;
  #deferred: Deferred | undefined;
  readonly #modes: Modes | undefined;
  #shape: readonly number[] | undefined;
  #dtype: DType | undefined;
  #disposed = false;
  #describing = false;

  /** `values`: a handle, or how to compute the values when they are first needed. */
  constructor(engine: TorchEngine, values: { readonly handle: Handle } | { readonly deferred: Deferred }) {
    this.engine = engine;
    if ("handle" in values) this.#handle = values.handle;
    else {
      this.#deferred = values.deferred;
      this.#modes = engine.modes();
      this.#shape = values.deferred.shape;
      this.#dtype = values.deferred.dtype;
    }
  }

  get handle(): Handle {
    return (this.#handle ??= this.#compute());
  }
  #compute(): Handle {
    const [deferred, modes] = [this.#deferred, this.#modes];
    if (!deferred || !modes || this.#disposed) throw new EngineError("a deferred tensor was disposed before it was computed");
    const handle = this.engine.within(modes, () => keep(deferred.run()).handle); // this tensor owns it now
    this.#deferred = undefined;
    return handle;
  }
  /** How the values will be computed, for what may be fused with it: undefined once they are, and in other modes than its own. */
  get deferred(): Deferred | undefined {
    return this.#deferred && this.#modes && isSameMode(this.#modes, this.engine.modes()) ? this.#deferred : undefined;
  }
  get shape(): readonly number[] {
    return (this.#shape ??= this.engine.native("shape", this));
  }
  get dtype(): DType {
    return (this.#dtype ??= this.engine.native("dtype", this) as DType);
  }
  settle(): void {
    if (!this.#disposed) this.#handle ??= this.#compute();
  }
  dispose(): void {
    if (this.#disposed) return;
    if (this.#handle !== undefined) this.engine.native("dispose", this);
    this.#disposed = true;
  }
  /** For messages: never throws. The shape of a tensor whose handle another wrapper has disposed is an error that describes the tensor. */
  describe(): string {
    if (this.#describing) return "unusable tensor";
    this.#describing = true;
    try {
      const sizes = this.#disposed && !this.#shape ? "" : `[${this.shape.join(", ")}]`;
      return this.#disposed ? `disposed tensor ${sizes}`.trimEnd() : sizes;
    } catch {
      return "unusable tensor";
    } finally {
      this.#describing = false;
    }
  }

  #run(operator: string, ...args: unknown[]): TorchTensor {
    return this.engine.compute(`aten::${operator}`, this, ...args);
  }
  #pair(operator: string, other: Tensor | number): TorchTensor {
    return this.#run(`${operator}.${typeof other === "number" ? "Scalar" : "Tensor"}`, other);
  }

  add(other: Tensor | number): TorchTensor {
    const swapped = (): TorchTensor | undefined => (other instanceof TorchTensor ? other.deferred?.plus?.(this) : undefined);
    return this.deferred?.plus?.(other) ?? swapped() ?? this.#pair("add", other);
  }
  sub(other: Tensor | number): TorchTensor {
    const fused = other instanceof TorchTensor ? this.engine.fusion?.difference(this, other) : undefined;
    return fused ?? this.#pair("sub", other);
  }
  mul(other: Tensor | number): TorchTensor {
    const scaled = !this.deferred && typeof other === "number" ? this.engine.fusion?.scaled(this, other) : undefined;
    return scaled ?? this.deferred?.times?.(other) ?? this.engine.training?.scaled(this, other) ?? this.#pair("mul", other);
  }
  div(other: Tensor | number): TorchTensor {
    return this.#pair("div", other);
  }
  maximum(other: Tensor | number): TorchTensor {
    return typeof other === "number" ? this.#run("clamp_min", other) : this.#run("maximum", other);
  }
  pow(exponent: number): TorchTensor {
    return this.#run("pow.Tensor_Scalar", exponent);
  }

  neg(): TorchTensor {
    return this.#run("neg");
  }
  abs(): TorchTensor {
    return this.#run("abs");
  }
  exp(): TorchTensor {
    return this.#run("exp");
  }
  log(): TorchTensor {
    return this.#run("log");
  }
  sqrt(): TorchTensor {
    return this.#run("sqrt");
  }
  square(): TorchTensor {
    return this.#run("square");
  }
  relu(): TorchTensor {
    return this.deferred?.activated?.(0) ?? this.#run("relu");
  }
  leakyRelu(slope: number): TorchTensor {
    return this.deferred?.activated?.(slope) ?? this.#run("leaky_relu", slope);
  }
  sigmoid(): TorchTensor {
    return this.#run("sigmoid");
  }
  clamp({ min, max }: { readonly min?: number; readonly max?: number }): TorchTensor {
    return this.#run("clamp", min, max);
  }

  less(other: Tensor | number): TorchTensor {
    return this.#pair("lt", other);
  }
  lessEqual(other: Tensor | number): TorchTensor {
    return this.#pair("le", other);
  }
  greater(other: Tensor | number): TorchTensor {
    return this.#pair("gt", other);
  }
  greaterEqual(other: Tensor | number): TorchTensor {
    return this.#pair("ge", other);
  }
  logicalAnd(other: Tensor): TorchTensor {
    return this.#run("logical_and", other);
  }
  where(ifTrue: Tensor | number, ifFalse: Tensor | number): TorchTensor {
    if (typeof ifTrue === "number") return this.#run("where.ScalarSelf", ifTrue, ifFalse);
    return this.#run(typeof ifFalse === "number" ? "where.ScalarOther" : "where.self", ifTrue, ifFalse);
  }

  sum(axes?: readonly number[], { keepAxes = false }: Keep = {}): TorchTensor {
    const fused = axes && this.deferred?.summed?.(axes, { keepAxes });
    return fused ?? this.#run("sum.dim_IntList", axes ?? null, keepAxes);
  }
  mean(axes?: readonly number[], { keepAxes = false }: Keep = {}): TorchTensor {
    return this.#run("mean.dim", axes ?? null, keepAxes);
  }
  max(axis: number, { keepAxes = false }: Keep = {}): TorchTensor {
    return this.#run("amax", [axis], keepAxes);
  }
  argmax(axis: number, { keepAxes = false }: Keep = {}): TorchTensor {
    return this.#run("argmax", axis, keepAxes);
  }
  softmax(axis: number): TorchTensor {
    return this.deferred?.softmaxed?.(axis) ?? this.#run("softmax.int", axis);
  }
  matmul(other: Tensor): TorchTensor {
    return this.#run("matmul", other);
  }
  solve(rightHandSide: Tensor): TorchTensor {
    return this.#run("linalg_solve", rightHandSide);
  }

  reshape(shape: Shape): TorchTensor {
    const sizes = numbers(shape, "reshape");
    return this.deferred?.reshaped?.(sizes) ?? this.#run("reshape", sizes);
  }
  permute(axes: readonly number[]): TorchTensor {
    return this.#run("permute", axes);
  }
  unsqueeze(axis: number): TorchTensor {
    return this.#run("unsqueeze", axis);
  }
  squeeze(axis: number): TorchTensor {
    if (this.shape.at(axis) !== 1) throw new EngineError(`squeeze(${this.describe()}, ${axis}): that axis does not have length 1`);
    return this.#run("squeeze.dim", axis);
  }
  slice(axis: number, { start = 0, end }: { readonly start?: number; readonly end?: number }): TorchTensor {
    const fused = this.deferred?.sliced?.(axis, { start, end }) ?? this.engine.fusion?.slice(this, axis, { start, end });
    return fused ?? this.#run("slice.Tensor", axis, start, end ?? null);
  }
  expand(shape: Shape): TorchTensor {
    return this.#run("expand", numbers(shape, "expand"));
  }
  flip(axis: number): TorchTensor {
    return this.#run("flip", [axis]);
  }
  pad(amounts: readonly (readonly [number, number])[]): TorchTensor {
    if (amounts.length !== this.shape.length)
      throw new EngineError(`pad(${this.describe()}): got amounts for ${amounts.length} axes; every axis needs a [before, after] pair`);
    return this.#run("constant_pad_nd", amounts.toReversed().flat(), 0);
  }
  cast(dtype: DType): TorchTensor {
    return this.#run("to.dtype", dtype);
  }

  conv2d(weight: Tensor, options: ConvOptions = {}): TorchTensor {
    return this.#convolution("conv2d", weight, options);
  }
  conv3d(weight: Tensor, options: ConvOptions = {}): TorchTensor {
    return this.#convolution("conv3d", weight, options);
  }
  #convolution(operator: "conv2d" | "conv3d", weight: Tensor, options: ConvOptions): TorchTensor {
    const { bias, stride = 1, padding = 0 } = options;
    const { fusion, training } = this.engine;
    if (fusion && weight instanceof TorchTensor) return fusion.convolution(this, weight, options);
    const fast = weight instanceof TorchTensor ? training?.convolution(this, weight, options) : undefined;
    if (fast) return fast;
    return this.#run(operator, weight, bias ?? null, stride, padding);
  }
  batchNorm(options: BatchNormOptions): TorchTensor {
    const fused = this.deferred?.normalised?.(options) ?? this.engine.training?.norm(this, options);
    if (fused) return fused;
    const { weight, bias, runningMean, runningVariance, training, momentum, epsilon } = options;
    const cudnn = true;
    return this.#run("batch_norm", weight, bias, runningMean, runningVariance, training, momentum, epsilon, cudnn);
  }
  groupNorm({ groups, weight, bias, epsilon }: GroupNormOptions): TorchTensor {
    if (!(groups >= 1)) throw new EngineError(`groupNorm(${this.describe()}): groups must be at least 1, got ${groups}`);
    const input = this.dtype === weight.dtype ? this : this.cast(weight.dtype); // as autocast does on CUDA; the CPU's group_norm rejects mixed dtypes
    return input.#run("group_norm", groups, weight, bias, epsilon);
  }
  resize2d(size: readonly [Dim, Dim], mode: "nearest" | "bilinear"): TorchTensor {
    const [h, w] = numbers(size, "resize2d") as [number, number];
    if (this.shape.length !== 4 && this.shape.length !== 5) throw new EngineError(`resize2d(${this.describe()}): needs 4 or 5 axes`);
    if (!(h > 0 && w > 0)) throw new EngineError(`resize2d(${this.describe()}): cannot resize to ${h}×${w}`);
    const { fusion, training } = this.engine;
    const fused = (fusion ?? training)?.resize(this, [h, w], mode);
    if (fused) return fused;
    if (mode === "bilinear") return this.engine.resizeBilinear(this, [h, w]);
    if (this.shape.length === 4) return this.engine.resizeNearest(this, [h, w]);
    const [B, C, N, ...from] = this.shape as [number, number, number, number, number];
    return this.reshape([B, C * N, ...from])
      .resize2d([h, w], mode)
      .reshape([B, C, N, h, w]);
  }
  maxPool2d(options: PoolOptions): TorchTensor {
    const { kernel, stride, padding = [0, 0] } = options;
    const fused = this.engine.fusion?.maxPool(this, options) ?? this.engine.training?.maxPool(this, options);
    return fused ?? this.#run("max_pool2d", kernel, stride, padding);
  }
  avgPool(options: PoolOptions): TorchTensor {
    const { kernel, stride, padding = kernel.map(() => 0) } = options;
    const [ceil, countPadding] = [false, false];
    const fused = kernel.length === 2 ? this.engine.fusion?.meanPool(this, options) : undefined;
    if (fused) return fused;
    return this.#run(kernel.length === 3 ? "avg_pool3d" : "avg_pool2d", kernel, stride, padding, ceil, countPadding);
  }
}

const numbers = (shape: Shape, where: string): number[] => shape.map((dim) => concrete(dim, where));
