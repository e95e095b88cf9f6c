import { formatShape, type Dim } from "../dims.ts";
import type { BatchNormOptions, ConvOptions, DType, Engine, GroupNormOptions, PoolOptions, Shape, Tensor } from "../engine.ts";
import { EngineError } from "../errors.ts";
import { conv, pool, resize2d, type Convolution } from "./conv.ts";
import { expand, flip, pad, permute, reshape, slice, squeeze, unsqueeze } from "./layout.ts";
import { argmax, binary, cast, clamp, matmul, reduce, scalar, softmax, unary, where } from "./math.ts";
import { batchNorm, groupNorm } from "./norm.ts";
import { binaryPlanes, convolvePlanes, normalisePlanes, resizePlanes, slicePlanes, unaryPlanes, volumeOfPictures } from "./planes.ts";
import type { Recorder, Value } from "./recorder.ts";

type Operand = Tensor | number;
type KeepAxes = { readonly keepAxes?: boolean };

/** The recorded value of a tensor of this graph; any other tensor is rejected. */
export function valueOf(tensor: Tensor, recorder: Recorder): Value {
  if (tensor instanceof OnnxTensor && tensor.recorder === recorder) return tensor.value;
  throw new EngineError(
    `a ${formatShape(tensor.shape)} tensor of ${tensor instanceof OnnxTensor ? "another graph" : "the torch engine"} was used`,
  );
}

/** A value of the graph being recorded. Every operation records a node and knows its exact shape. */
export class OnnxTensor implements Tensor {
  readonly engine: Engine;
  readonly recorder: Recorder;
  readonly value: Value;

  constructor(engine: Engine, recorder: Recorder, value: Value) {
    this.engine = engine;
    this.recorder = recorder;
    this.value = value;
  }

  get shape(): Shape {
    return this.value.shape;
  }
  get dtype(): DType {
    return this.value.dtype;
  }

  add(other: Operand): Tensor {
    return this.#binary("Add", other);
  }
  sub(other: Operand): Tensor {
    return this.#binary("Sub", other);
  }
  mul(other: Operand): Tensor {
    return this.#binary("Mul", other);
  }
  div(other: Operand): Tensor {
    return this.#binary("Div", other);
  }
  maximum(other: Operand): Tensor {
    return this.#binary("Max", other);
  }
  pow(exponent: number): Tensor {
    return this.#binary("Pow", exponent);
  }

  neg(): Tensor {
    return this.#unary("Neg");
  }
  abs(): Tensor {
    return this.#unary("Abs");
  }
  exp(): Tensor {
    return this.#unary("Exp");
  }
  log(): Tensor {
    return this.#unary("Log");
  }
  sqrt(): Tensor {
    return this.#unary("Sqrt");
  }
  square(): Tensor {
    return this.mul(this);
  }
  relu(): Tensor {
    return this.#unary("Relu");
  }
  leakyRelu(slope: number): Tensor {
    return this.#unary("LeakyRelu", { alpha: { float: slope } });
  }
  sigmoid(): Tensor {
    return this.#unary("Sigmoid");
  }
  clamp(range: { readonly min?: number; readonly max?: number }): Tensor {
    return this.#wrap(clamp(this.recorder, this.value, range));
  }

  less(other: Operand): Tensor {
    return this.#binary("Less", other, "bool");
  }
  lessEqual(other: Operand): Tensor {
    return this.#binary("LessOrEqual", other, "bool");
  }
  greater(other: Operand): Tensor {
    return this.#binary("Greater", other, "bool");
  }
  greaterEqual(other: Operand): Tensor {
    return this.#binary("GreaterOrEqual", other, "bool");
  }
  logicalAnd(other: Tensor): Tensor {
    return this.#binary("And", other);
  }
  where(ifTrue: Operand, ifFalse: Operand): Tensor {
    const typed = typeof ifTrue === "number" ? ifFalse : ifTrue;
    if (typeof typed === "number") throw new EngineError("where: at least one of the two choices must be a tensor");
    const choice = (operand: Operand): Value => this.#operand(operand, typed.dtype);
    return this.#wrap(where(this.recorder, this.value, [choice(ifTrue), choice(ifFalse)]));
  }

  sum(axes?: readonly number[], options: KeepAxes = {}): Tensor {
    return this.#reduce("ReduceSum", axes, options);
  }
  mean(axes?: readonly number[], options: KeepAxes = {}): Tensor {
    return this.#reduce("ReduceMean", axes, options);
  }
  max(axis: number, options: KeepAxes = {}): Tensor {
    return this.#reduce("ReduceMax", [axis], options);
  }
  argmax(axis: number, { keepAxes }: KeepAxes = {}): Tensor {
    return this.#wrap(argmax(this.recorder, this.value, { axis, keepAxes }));
  }
  softmax(axis: number): Tensor {
    return this.#wrap(softmax(this.recorder, this.value, axis));
  }
  matmul(other: Tensor): Tensor {
    return this.#wrap(matmul(this.recorder, this.value, this.#valueOf(other)));
  }

  solve(rightHandSide: Tensor): Tensor {
    throw new EngineError(
      `solve(${formatShape(this.shape)}, ${formatShape(rightHandSide.shape)}): ONNX has no operator that solves a linear system; train and run this network with the torch engine`,
    );
  }

  reshape(shape: Shape): Tensor {
    return this.#wrap(reshape(this.recorder, this.value, shape));
  }
  permute(axes: readonly number[]): Tensor {
    return this.#wrap(volumeOfPictures(this.recorder, this.value, axes) ?? permute(this.recorder, this.value, axes));
  }
  unsqueeze(axis: number): Tensor {
    return this.#wrap(unsqueeze(this.recorder, this.value, axis));
  }
  squeeze(axis: number): Tensor {
    return this.#wrap(squeeze(this.recorder, this.value, axis));
  }
  slice(axis: number, range: { readonly start?: number; readonly end?: number }): Tensor {
    return this.#wrap(slicePlanes(this.recorder, this.value, { axis, ...range }) ?? slice(this.recorder, this.value, { axis, ...range }));
  }
  expand(shape: Shape): Tensor {
    return this.#wrap(expand(this.recorder, this.value, shape));
  }
  flip(axis: number): Tensor {
    return this.#wrap(flip(this.recorder, this.value, axis));
  }
  pad(amounts: readonly (readonly [number, number])[]): Tensor {
    return this.#wrap(pad(this.recorder, this.value, amounts));
  }
  cast(dtype: DType): Tensor {
    return this.#wrap(cast(this.recorder, this.value, dtype));
  }

  conv2d(weight: Tensor, options: ConvOptions = {}): Tensor {
    return this.#wrap(conv(this.recorder, this.value, this.#convolution(weight, options), 2));
  }
  conv3d(weight: Tensor, options: ConvOptions = {}): Tensor {
    const convolution = this.#convolution(weight, options);
    return this.#wrap(convolvePlanes(this.recorder, this.value, convolution) ?? conv(this.recorder, this.value, convolution, 3));
  }
  batchNorm({ weight, bias, runningMean, runningVariance, training, epsilon }: BatchNormOptions): Tensor {
    const parameters = {
      weight: this.#valueOf(weight),
      bias: this.#valueOf(bias),
      runningMean: this.#valueOf(runningMean),
      runningVariance: this.#valueOf(runningVariance),
    };
    const norm = { ...parameters, training, epsilon };
    return this.#wrap(normalisePlanes(this.recorder, this.value, norm) ?? batchNorm(this.recorder, this.value, norm));
  }
  groupNorm({ groups, weight, bias, epsilon }: GroupNormOptions): Tensor {
    const options = { groups, weight: this.#valueOf(weight), bias: this.#valueOf(bias), epsilon };
    return this.#wrap(groupNorm(this.recorder, this.value, options));
  }
  resize2d(size: readonly [Dim, Dim], mode: "nearest" | "bilinear"): Tensor {
    return this.#wrap(resizePlanes(this.recorder, this.value, size, mode) ?? resize2d(this.recorder, this.value, size, mode));
  }
  maxPool2d(options: PoolOptions): Tensor {
    return this.#wrap(pool(this.recorder, "MaxPool", this.value, options));
  }
  avgPool(options: PoolOptions): Tensor {
    return this.#wrap(pool(this.recorder, "AveragePool", this.value, options));
  }

  /** A recorded value holds no memory of its own. */
  settle(): void {}
  dispose(): void {}

  #wrap(value: Value): Tensor {
    return value === this.value ? this : new OnnxTensor(this.engine, this.recorder, value);
  }
  #valueOf(tensor: Tensor): Value {
    return valueOf(tensor, this.recorder);
  }
  #operand(operand: Operand, dtype: DType): Value {
    return typeof operand === "number" ? scalar(this.recorder, operand, dtype) : this.#valueOf(operand);
  }
  #binary(operator: string, other: Operand, result?: DType): Tensor {
    const operands = [this.value, this.#operand(other, this.dtype)] as const;
    const plain = result === undefined ? binaryPlanes(this.recorder, operator, operands) : undefined;
    return this.#wrap(plain ?? binary(this.recorder, operator, operands, result));
  }
  #unary(operator: string, attributes = {}): Tensor {
    const planes = unaryPlanes(this.recorder, operator, this.value, attributes);
    return this.#wrap(planes ?? unary(this.recorder, operator, this.value, attributes));
  }
  #reduce(operator: string, axes: readonly number[] | undefined, { keepAxes }: KeepAxes): Tensor {
    return this.#wrap(reduce(this.recorder, operator, this.value, { axes, keepAxes }));
  }
  #convolution(weight: Tensor, { bias, ...rest }: ConvOptions): Convolution {
    return { ...rest, weight: this.#valueOf(weight), bias: bias && this.#valueOf(bias) };
  }
}
