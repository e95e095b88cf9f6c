import { formatShape, sameDim, sumDims, type Dim } from "../dims.ts";
import type { DType, Shape } from "../engine.ts";
import { EngineError, ShapeError } from "../errors.ts";
import { toArray } from "../typedArray.ts";
import { cast, scalar } from "./math.ts";
import type { Recorder, Value } from "./recorder.ts";
import { broadcastShapes, checkSameCount, frontAxis, lengthOf, sliceLength } from "./shape.ts";

const COPY = 0; // in Reshape: keep this axis
const INFER = -1; // in Reshape: the remaining elements
const BEFORE_FIRST = -(2 ** 31); // in Slice: the end when stepping backwards
const PAST_END = 2 ** 31 - 1;

/** Symbolic sizes are copied or inferred where Reshape can, and computed from the inputs' sizes otherwise. */
export function reshape(recorder: Recorder, value: Value, shape: Shape): Value {
  checkSameCount(value.shape, shape, "reshape");
  if (shape.length === value.shape.length && shape.every((dim, axis) => sameDim(dim, lengthOf(value.shape, axis)))) return value;
  const copied = shape.map((dim, axis): Dim => {
    const before = value.shape[axis];
    return typeof dim !== "number" && before !== undefined && sameDim(dim, before) ? COPY : dim;
  });
  const unknown = copied.filter((dim) => typeof dim !== "number");
  const sizes = unknown.length === 1 ? copied.map((dim) => (typeof dim === "number" ? dim : INFER)) : copied;
  return recorder.emit("Reshape", [value, recorder.sizes(sizes)], { shape, dtype: value.dtype });
}

export function permute(recorder: Recorder, value: Value, axes: readonly number[]): Value {
  const where = `permute(${formatShape(value.shape)}, [${axes.join(", ")}])`;
  const order = axes.map((axis) => frontAxis(axis, value.shape.length, where));
  if (order.length !== value.shape.length || new Set(order).size !== order.length)
    throw new ShapeError(`${where}: every axis must be named exactly once`);
  const shape = order.map((axis) => lengthOf(value.shape, axis));
  return recorder.emit("Transpose", [value], { shape, dtype: value.dtype, attributes: { perm: order } });
}

export function unsqueeze(recorder: Recorder, value: Value, axis: number): Value {
  const front = frontAxis(axis, value.shape.length + 1, `unsqueeze(${formatShape(value.shape)})`);
  return recorder.emit("Unsqueeze", [value, recorder.integers([front])], { shape: value.shape.toSpliced(front, 0, 1), dtype: value.dtype });
}

export function squeeze(recorder: Recorder, value: Value, axis: number): Value {
  const where = `squeeze(${formatShape(value.shape)}, ${axis})`;
  const front = frontAxis(axis, value.shape.length, where);
  if (lengthOf(value.shape, front) !== 1) throw new ShapeError(`${where}: the axis does not have length 1`);
  return recorder.emit("Squeeze", [value, recorder.integers([front])], { shape: value.shape.toSpliced(front, 1), dtype: value.dtype });
}

interface Range {
  readonly start?: number;
  readonly end?: number;
}

export function slice(recorder: Recorder, value: Value, { axis, start = 0, end }: Range & { readonly axis: number }): Value {
  const where = `slice(${formatShape(value.shape)}, ${axis})`;
  const front = frontAxis(axis, value.shape.length, where);
  const length = sliceLength(lengthOf(value.shape, front), end === undefined ? { start } : { start, end }, where);
  if (length === 0) throw new ShapeError(`${where}: the range ${start} to ${end ?? "end"} is empty`);
  const range = [[start], [end ?? PAST_END], [front]].map((list) => recorder.integers(list));
  return recorder.emit("Slice", [value, ...range], { shape: value.shape.with(front, length), dtype: value.dtype });
}

export function flip(recorder: Recorder, value: Value, axis: number): Value {
  const front = frontAxis(axis, value.shape.length, `flip(${formatShape(value.shape)})`);
  const range = [[-1], [BEFORE_FIRST], [front], [-1]].map((list) => recorder.integers(list));
  return recorder.emit("Slice", [value, ...range], { shape: value.shape, dtype: value.dtype, label: "Flip" });
}

/** Axes that keep their length are passed as 1, which broadcasts: only the new lengths are read at run time. */
export function expand(recorder: Recorder, value: Value, shape: Shape): Value {
  const where = `expand(${formatShape(value.shape)} to ${formatShape(shape)})`;
  const broadcast = broadcastShapes(value.shape, shape, where);
  const isReached = broadcast.length === shape.length && broadcast.every((dim, axis) => sameDim(dim, lengthOf(shape, axis)));
  if (!isReached) throw new ShapeError(`${where}: only axes of length 1 can grow`);
  const lead = shape.length - value.shape.length;
  const asked = shape.map((dim, axis): Dim => {
    const before = value.shape[axis - lead];
    return before !== undefined && sameDim(before, dim) ? 1 : dim;
  });
  if (lead === 0 && asked.every((dim) => dim === 1)) return value;
  return recorder.emit("Expand", [value, recorder.sizes(asked)], { shape, dtype: value.dtype });
}

export function pad(recorder: Recorder, value: Value, amounts: readonly (readonly [number, number])[]): Value {
  const where = `pad(${formatShape(value.shape)})`;
  if (amounts.length !== value.shape.length)
    throw new ShapeError(`${where}: got ${amounts.length} pairs of amounts for ${value.shape.length} axes`);
  if (amounts.flat().some((amount) => !Number.isInteger(amount) || amount < 0))
    throw new ShapeError(`${where}: amounts must be whole and not negative, got ${JSON.stringify(amounts)}`);
  const shape = value.shape.map((dim, axis) => {
    const [before, after] = amounts[axis] as readonly [number, number];
    return sumDims(dim, before + after);
  });
  const pads = recorder.integers([...amounts.map(([before]) => before), ...amounts.map(([, after]) => after)]);
  return recorder.emit("Pad", [value, pads, scalar(recorder, 0, value.dtype)], {
    shape,
    dtype: value.dtype,
    attributes: { mode: "constant" },
  });
}

export function concat(recorder: Recorder, values: readonly Value[], axis: number): Value {
  const where = `concat(${values.map((value) => formatShape(value.shape)).join(", ")})`;
  const [first] = values;
  if (!first) throw new ShapeError("concat: got no tensors");
  const front = frontAxis(axis, first.shape.length, where);
  const other = values.find((value) => value.dtype !== first.dtype);
  if (other) throw new EngineError(`${where}: the operands are ${first.dtype} and ${other.dtype}; cast one of them`);
  const fits = values.every(
    ({ shape }) => shape.length === first.shape.length && shape.every((dim, i) => i === front || sameDim(dim, lengthOf(first.shape, i))),
  );
  if (!fits) throw new ShapeError(`${where}: the shapes differ in more than axis ${front}`);
  if (values.length === 1) return first;
  const length = values.map((value) => lengthOf(value.shape, front)).reduce(sumDims);
  return recorder.emit("Concat", values, { shape: first.shape.with(front, length), dtype: first.dtype, attributes: { axis: front } });
}

/** 0, 1, …, length − 1. */
export function range(recorder: Recorder, length: Dim, dtype: DType): Value {
  if (typeof length === "number") {
    const values = Float64Array.from({ length }, (_, i) => i);
    return recorder.initializer(toArray(values, dtype), { shape: [length], dtype, name: `range_${length}` });
  }
  const limit = recorder.emit("Squeeze", [recorder.sizes([length]), recorder.integers([0])], { shape: [], dtype: "i64" });
  const [zero, one] = [scalar(recorder, 0, "i64"), scalar(recorder, 1, "i64")];
  return cast(recorder, recorder.emit("Range", [zero, limit, one], { shape: [length], dtype: "i64" }), dtype);
}
