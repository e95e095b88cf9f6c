import { formatShape, sameDim, type Dim } from "../dims.ts";
import type { NumericArray } from "../engine.ts";
import { conv, resize2d, type Convolution } from "./conv.ts";
import { concat, squeeze, unsqueeze } from "./layout.ts";
import { binary, scalar, unary } from "./math.ts";
import { constantAffine, scaleRows, type BatchNorm } from "./norm.ts";
import type { Recorder, Value } from "./recorder.ts";
import { lengthOf } from "./shape.ts";

/**
 * Volumes plane by plane, for ONNX Runtime on a CPU: its 2-D convolutions are faster than its 3-D ones, fuse a sum and an activation into
 * the same kernel, and skip the zeros before the first plane and after the last.
 *
 * A volume [B, C, N, h, w] of known N is recorded both as N images [B, C, h, w] and as one value that joins them. Whichever form is not
 * used is dropped when the graph is finished.
 */
export interface Volume {
  readonly planes: readonly Value[];
  /** The convolution that produced it, so that a norm and a sum that follow can be folded into it. */
  readonly convolution?: VolumeConvolution;
}

interface VolumeConvolution {
  readonly input: readonly Value[];
  readonly weight: Kernel;
  readonly bias: Float32Array | undefined;
}

/** [out, in, k, k, k]. */
interface Kernel {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: () => Float32Array;
}

const PLANE = 2;

/** The volume as one value; its planes stay known. */
function joined(recorder: Recorder, volume: Volume): Value {
  const stacked = concat(recorder, volume.planes.map((plane) => unsqueeze(recorder, plane, PLANE)), PLANE); // prettier-ignore
  const value = volume.planes.length === 1 ? { ...stacked } : stacked;
  recorder.volumes.set(value.name, volume);
  return value;
}

const planesOf = (recorder: Recorder, value: Value): readonly Value[] | undefined => recorder.volumes.get(value.name)?.planes;

/** [B, N, C, h, w] → [B, C, N, h, w]: the start of a volume; and back. */
export function volumeOfPictures(recorder: Recorder, value: Value, axes: readonly number[]): Value | undefined {
  const [B, N, ...picture] = value.shape as [Dim, Dim, ...Dim[]];
  if (!recorder.planeByPlane || typeof N !== "number" || axes.join() !== "0,2,1,3,4") return undefined;
  const planes = planesOf(recorder, value);
  if (planes) return concat(recorder, planes.map((plane) => unsqueeze(recorder, plane, 1)), 1); // prettier-ignore
  const at = (n: number): Value =>
    recorder.emit("Gather", [value, scalar(recorder, n, "i64")], { shape: [B, ...picture], dtype: value.dtype, attributes: { axis: 1 } });
  return joined(recorder, { planes: Array.from({ length: N }, (_, n) => at(n)) });
}

function mapPlanes(recorder: Recorder, value: Value, change: (plane: Value) => Value): Value | undefined {
  const planes = planesOf(recorder, value);
  return planes && joined(recorder, { planes: planes.map(change) });
}

export const unaryPlanes = (recorder: Recorder, operator: string, value: Value, attributes = {}): Value | undefined =>
  mapPlanes(recorder, value, (plane) => unary(recorder, operator, plane, attributes));

export const resizePlanes = (
  recorder: Recorder,
  value: Value,
  size: readonly [Dim, Dim],
  mode: "nearest" | "bilinear",
): Value | undefined => mapPlanes(recorder, value, (plane) => resize2d(recorder, plane, size, mode));

export function binaryPlanes(recorder: Recorder, operator: string, [a, b]: readonly [Value, Value]): Value | undefined {
  const [left, right] = [recorder.volumes.get(a.name), recorder.volumes.get(b.name)];
  if (left && b.shape.length === 0) return mapPlanes(recorder, a, (plane) => binary(recorder, operator, [plane, b]));
  if (left && !right && isSharedByPlanes(b)) {
    const map = squeeze(recorder, b, PLANE);
    return mapPlanes(recorder, a, (plane) => binary(recorder, operator, [plane, map]));
  }
  if (!left || !right || formatShape(a.shape) !== formatShape(b.shape)) return undefined;
  if (operator === "Add" && left.convolution) return joined(recorder, { planes: convolve(recorder, left.convolution, right.planes) });
  return joined(recorder, { planes: left.planes.map((plane, n) => binary(recorder, operator, [plane, right.planes[n] as Value])) });
}

/** One map for all planes, [B, C, 1, h, w]. */
const isSharedByPlanes = ({ shape }: Value): boolean => shape.length === 5 && shape[PLANE] === 1;

export function concatPlanes(recorder: Recorder, values: readonly Value[], axis: number): Value | undefined {
  const lists = values.map((value) => planesOf(recorder, value));
  if (!lists.every((list) => list !== undefined)) return undefined;
  if (axis === PLANE) return joined(recorder, { planes: lists.flat() });
  const [first = []] = lists;
  if (axis !== 1 || lists.some((list) => list.length !== first.length)) return undefined;
  return joined(recorder, { planes: first.map((_, n) => concat(recorder, lists.map((list) => list[n] as Value), 1)) }); // prettier-ignore
}

export function slicePlanes(
  recorder: Recorder,
  value: Value,
  { axis, start = 0, end }: { readonly axis: number; readonly start?: number; readonly end?: number },
): Value | undefined {
  const planes = axis === PLANE ? planesOf(recorder, value)?.slice(start, end) : undefined;
  return planes && planes.length > 0 ? joined(recorder, { planes }) : undefined;
}

/** A convolution with constant weights and an odd window that keeps the size; undefined for any other. */
export function convolvePlanes(
  recorder: Recorder,
  value: Value,
  { weight, bias, stride = 1, padding = 0 }: Convolution,
): Value | undefined {
  const input = planesOf(recorder, value);
  const [weights, offsets] = [recorder.constant(weight.name), bias && recorder.constant(bias.name)];
  if (!input || stride !== 1 || !(weights?.data instanceof Float32Array) || (bias && !(offsets?.data instanceof Float32Array)))
    return undefined;
  const [, channels, ...window] = weights.shape;
  if (window.length !== 3 || window.some((side) => side !== 2 * padding + 1)) return undefined;
  if (!sameDim(lengthOf(value.shape, 1), channels ?? 0)) return undefined; // conv3d reports the error
  const data = weights.data;
  const kernel = { name: weights.name, shape: weights.shape, data: () => data };
  const convolution = { input, weight: kernel, bias: offsets?.data as Float32Array | undefined };
  return joined(recorder, { planes: convolve(recorder, convolution), convolution });
}

/** Folds a batch norm into the weights of such a convolution before it. */
export function normalisePlanes(recorder: Recorder, value: Value, options: BatchNorm): Value | undefined {
  const convolution = recorder.volumes.get(value.name)?.convolution;
  const affine = convolution && constantAffine(recorder, options);
  if (!affine || options.training) return undefined;
  const { input, weight, bias } = convolution;
  const folded = {
    input,
    weight: { name: `${weight.name}.folded`, shape: weight.shape, data: once(() => scaleRows(weight.data(), affine.scale)) },
    bias: Float32Array.from(affine.shift, (shift, c) => shift + (bias?.[c] ?? 0) * (affine.scale[c] as number)),
  };
  return joined(recorder, { planes: convolve(recorder, folded), convolution: folded });
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/**
 * Σ_k W_k ∗ x_{n+k−1} for each plane n, over the planes that exist. Each term is a convolution added to the sum so far, starting with
 * `residual`: ONNX Runtime fuses both into one kernel, with the activation after the last.
 */
function convolve(recorder: Recorder, { input, weight, bias }: VolumeConvolution, residual?: readonly Value[]): Value[] {
  const depth = weight.shape[2] as number;
  const reach = (depth - 1) / 2;
  const taps = Array.from({ length: depth }, (_, k) => tap(recorder, weight, k));
  const offsets = bias && recorder.initializer(bias, { shape: [bias.length], dtype: "f32", name: `${weight.name}.bias` });
  return input.map((_, n) => {
    const terms = taps.flatMap((kernel, k) => {
      const plane = input[n + k - reach];
      return plane ? [{ plane, kernel }] : [];
    });
    return terms.reduce<Value | undefined>((sum, { plane, kernel }, i) => {
      const last = i === terms.length - 1;
      const product = conv(recorder, plane, { weight: kernel, bias: last ? offsets : undefined, padding: reach }, 2);
      return sum ? binary(recorder, "Add", [product, sum]) : product;
    }, residual?.[n]) as Value;
  });
}

/** W_k, [out, in, k, k]. */
function tap(recorder: Recorder, { name, shape, data }: Kernel, k: number): Value {
  const [out, input, depth, ...window] = shape as [number, number, number, number, number];
  const area = window[0] * window[1];
  const slice = (): NumericArray => {
    const from = data();
    const to = new Float32Array(out * input * area);
    for (let i = 0; i < out * input; i++) to.set(from.subarray((i * depth + k) * area, (i * depth + k + 1) * area), i * area);
    return to;
  };
  return recorder.once(`tap ${k} of ${name}`, () =>
    recorder.initializer(slice, { shape: [out, input, ...window], dtype: "f32", name: `${name}.plane${k}` }),
  );
}
