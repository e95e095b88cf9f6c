import { formatShape, sameDim, times } from "../dims.ts";
import { EngineError, ShapeError } from "../errors.ts";
import { perChannel } from "./conv.ts";
import { reshape } from "./layout.ts";
import { binary, scalar, unary } from "./math.ts";
import type { Recorder, Value } from "./recorder.ts";
import { lengthOf } from "./shape.ts";

export interface BatchNorm {
  readonly weight: Value;
  readonly bias: Value;
  readonly runningMean: Value;
  readonly runningVariance: Value;
  readonly training: boolean;
  readonly epsilon: number;
}

/**
 * y = (x − mean) / √(variance + ε) · weight + bias, per channel, as y = x · scale + shift. After a convolution with constant
 * weights, scale and shift are folded into a new convolution; the old one is then unused and dropped from the graph.
 */
export function batchNorm(recorder: Recorder, value: Value, options: BatchNorm): Value {
  const { weight, bias, runningMean, runningVariance, training } = options;
  const where = `batchNorm(${formatShape(value.shape)})`;
  if (training) throw new EngineError(`${where}: a graph is recorded for inference; pass training: false`);
  if (value.shape.length < 2) throw new ShapeError(`${where}: needs a channel axis`);
  for (const parameter of [weight, bias, runningMean, runningVariance])
    if (parameter.shape.length !== 1 || !sameDim(lengthOf(parameter.shape, 0), lengthOf(value.shape, 1)))
      throw new ShapeError(`${where}: a parameter is ${formatShape(parameter.shape)}, not ${formatShape([lengthOf(value.shape, 1)])}`);
  const affine = constantAffine(recorder, options);
  if (!affine) return scaleAndShift(recorder, value, recordedAffine(recorder, options));
  return foldIntoConv(recorder, value, affine) ?? scaleAndShift(recorder, value, affineConstants(recorder, affine, weight.name));
}

interface Affine<T> {
  readonly scale: T;
  readonly shift: T;
}

/** scale = weight / √(variance + ε), shift = bias − mean · scale; in double precision, rounded once. */
export function constantAffine(recorder: Recorder, options: BatchNorm): Affine<Float64Array> | undefined {
  const { weight, bias, runningMean, runningVariance, epsilon } = options;
  const [gain, offset, mean, variance] = [weight, bias, runningMean, runningVariance].map((value) => floats(recorder, value));
  if (!gain || !offset || !mean || !variance) return undefined;
  const scale = Float64Array.from(gain, (value, c) => value / Math.sqrt((variance[c] as number) + epsilon));
  return { scale, shift: Float64Array.from(offset, (value, c) => value - (mean[c] as number) * (scale[c] as number)) };
}

const floats = (recorder: Recorder, value: Value): Float32Array | undefined => {
  const data = recorder.constant(value.name)?.data;
  return data instanceof Float32Array ? data : undefined;
};

/** The same for parameters that are known only when the graph runs. */
function recordedAffine(recorder: Recorder, { weight, bias, runningMean, runningVariance, epsilon }: BatchNorm): Affine<Value> {
  const deviation = unary(recorder, "Sqrt", binary(recorder, "Add", [runningVariance, scalar(recorder, epsilon, runningVariance.dtype)]));
  const scale = binary(recorder, "Div", [weight, deviation]);
  return { scale, shift: binary(recorder, "Sub", [bias, binary(recorder, "Mul", [runningMean, scale])]) };
}

function affineConstants(recorder: Recorder, { scale, shift }: Affine<Float64Array>, name: string): Affine<Value> {
  const constant = (values: Float64Array, part: string): Value =>
    recorder.initializer(Float32Array.from(values), { shape: [values.length], dtype: "f32", name: `${name}.${part}` });
  return { scale: constant(scale, "scale"), shift: constant(shift, "shift") };
}

function scaleAndShift(recorder: Recorder, value: Value, { scale, shift }: Affine<Value>): Value {
  const rank = value.shape.length;
  const scaled = binary(recorder, "Mul", [value, perChannel(recorder, scale, rank)]);
  return binary(recorder, "Add", [scaled, perChannel(recorder, shift, rank)]);
}

/** The convolution that produced `value`, with the affine map folded into its weights; undefined if there is none with constant weights. */
function foldIntoConv(recorder: Recorder, value: Value, { scale, shift }: Affine<Float64Array>): Value | undefined {
  const node = recorder.producerOf(value);
  if (node?.operator !== "Conv") return undefined;
  const [input, weightName, biasName] = node.inputs;
  const weight = recorder.constant(weightName);
  const bias = recorder.constant(biasName);
  if (input === undefined || !(weight?.data instanceof Float32Array) || (biasName !== undefined && !(bias?.data instanceof Float32Array)))
    return undefined;
  const before = bias?.data as Float32Array | undefined;
  const foldedBias = Float32Array.from(shift, (value, c) => value + (before?.[c] ?? 0) * (scale[c] as number));
  const operands = [
    { name: input, shape: [], dtype: value.dtype },
    recorder.initializer(scaleRows(weight.data, scale), { shape: weight.shape, dtype: "f32", name: `${weight.name}.folded` }),
    recorder.initializer(foldedBias, { shape: [scale.length], dtype: "f32", name: `${weight.name}.foldedBias` }),
  ];
  return recorder.emit("Conv", operands, {
    shape: value.shape,
    dtype: value.dtype,
    attributes: node.attributes,
    label: `${node.name}.normalised`,
  });
}

/** Row o of the matrix [scale.length, …] times scale[o]. */
export function scaleRows(weights: Float32Array, scale: Float64Array): Float32Array {
  const scaled = new Float32Array(weights.length);
  const length = weights.length / scale.length;
  for (let row = 0; row < scale.length; row++) {
    const factor = scale[row] as number;
    for (let i = row * length; i < (row + 1) * length; i++) scaled[i] = (weights[i] as number) * factor;
  }
  return scaled;
}

export interface GroupNorm {
  readonly groups: number;
  readonly weight: Value;
  readonly bias: Value;
  readonly epsilon: number;
}

/**
 * Groups as the channels of an InstanceNormalization over [B, groups, rest], then weight and bias per channel. Unlike the
 * GroupNormalization operator this is one kernel in every ONNX Runtime backend, for any rank.
 */
export function groupNorm(recorder: Recorder, value: Value, { groups, weight, bias, epsilon }: GroupNorm): Value {
  const where = `groupNorm(${formatShape(value.shape)}, ${groups} groups)`;
  const [batch, channels, ...rest] = value.shape;
  if (batch === undefined || typeof channels !== "number" || channels % groups !== 0)
    throw new ShapeError(`${where}: the channels must be a multiple of the groups`);
  for (const parameter of [weight, bias])
    if (parameter.shape.length !== 1 || parameter.shape[0] !== channels)
      throw new ShapeError(`${where}: a parameter is ${formatShape(parameter.shape)}, not [${channels}]`);
  const grouped = reshape(recorder, value, [batch, groups, rest.reduce(times, channels / groups)]);
  const constants = [1, 0].map((n) =>
    recorder.once(`${n} per group of ${groups}`, () =>
      recorder.initializer(new Float32Array(groups).fill(n), { shape: [groups], dtype: "f32", name: `groups_${n}` }),
    ),
  );
  const normalised = recorder.emit("InstanceNormalization", [grouped, ...constants], {
    shape: grouped.shape,
    dtype: value.dtype,
    attributes: { epsilon: { float: epsilon } },
    label: "GroupNorm",
  });
  return scaleAndShift(recorder, reshape(recorder, normalised, value.shape), { scale: weight, shift: bias });
}
