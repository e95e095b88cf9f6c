import { formatShape, sameDim } from "../dims.ts";
import type { DType } from "../engine.ts";
import { EngineError, ShapeError } from "../errors.ts";
import { toArray } from "../typedArray.ts";
import { ELEMENT_TYPE } from "./bytes.ts";
import type { Recorder, Value } from "./recorder.ts";
import { broadcastShapes, frontAxis, lengthOf, reducedShape } from "./shape.ts";

const isFloat = (dtype: DType): boolean => dtype === "f32" || dtype === "f64" || dtype === "f16" || dtype === "bf16";

const isIntegral = (dtype: DType): boolean => dtype === "i32" || dtype === "i64" || dtype === "u8";

/** A number as a constant of rank 0; each is recorded once. */
export function scalar(recorder: Recorder, value: number, dtype: DType): Value {
  if (isIntegral(dtype) && !Number.isInteger(value))
    throw new EngineError(`${value} is not a value of type ${dtype}; cast the tensor to f32 before computing with it`);
  return recorder.once(`scalar ${dtype} ${Object.is(value, -0) ? "-0" : value}`, () =>
    recorder.initializer(toArray([value], dtype), { shape: [], dtype, name: `number_${value}` }),
  );
}

/** A two-operand node; `dtype` if the result's type differs from the operands'. */
export function binary(recorder: Recorder, operator: string, operands: readonly [Value, Value], dtype?: DType): Value {
  const [a, b] = operands;
  const where = `${operator}(${formatShape(a.shape)}, ${formatShape(b.shape)})`;
  if (a.dtype !== b.dtype) throw new EngineError(`${where}: the operands are ${a.dtype} and ${b.dtype}; cast one of them`);
  if (operator === "Div" && !isFloat(a.dtype)) throw new EngineError(`${where}: division of ${a.dtype}; cast to f32 first`);
  return recorder.emit(operator, operands, { shape: broadcastShapes(a.shape, b.shape, where), dtype: dtype ?? a.dtype });
}

export function unary(recorder: Recorder, operator: string, value: Value, attributes = {}): Value {
  return recorder.emit(operator, [value], { shape: value.shape, dtype: value.dtype, attributes });
}

export function clamp(recorder: Recorder, value: Value, { min, max }: { readonly min?: number; readonly max?: number }): Value {
  const bound = (limit: number | undefined): Value | undefined => (limit === undefined ? undefined : scalar(recorder, limit, value.dtype));
  return recorder.emit("Clip", [value, bound(min), bound(max)], { shape: value.shape, dtype: value.dtype });
}

export function where(recorder: Recorder, condition: Value, [ifTrue, ifFalse]: readonly [Value, Value]): Value {
  const name = `where(${formatShape(condition.shape)}, ${formatShape(ifTrue.shape)}, ${formatShape(ifFalse.shape)})`;
  if (condition.dtype !== "bool") throw new EngineError(`${name}: the condition is ${condition.dtype}, not bool`);
  if (ifTrue.dtype !== ifFalse.dtype)
    throw new EngineError(`${name}: the choices are ${ifTrue.dtype} and ${ifFalse.dtype}; cast one of them`);
  const shape = broadcastShapes(condition.shape, broadcastShapes(ifTrue.shape, ifFalse.shape, name), name);
  return recorder.emit("Where", [condition, ifTrue, ifFalse], { shape, dtype: ifTrue.dtype });
}

export function cast(recorder: Recorder, value: Value, dtype: DType): Value {
  if (value.dtype === dtype) return value;
  return recorder.emit("Cast", [value], { shape: value.shape, dtype, attributes: { to: ELEMENT_TYPE[dtype] } });
}

interface Reduction {
  readonly axes?: readonly number[] | undefined;
  readonly keepAxes?: boolean | undefined;
}

/** ReduceSum, ReduceMean, ReduceMax or ReduceMin; a sum of integers or bools is i64, as in torch. */
export function reduce(recorder: Recorder, operator: string, value: Value, { axes, keepAxes = false }: Reduction): Value {
  const where = `${operator}(${formatShape(value.shape)})`;
  if (operator === "ReduceMean" && !isFloat(value.dtype)) throw new EngineError(`${where}: mean of ${value.dtype}; cast to f32 first`);
  const summand = operator === "ReduceSum" && !isFloat(value.dtype) ? cast(recorder, value, "i64") : value;
  const over = (axes ?? value.shape.map((_, axis) => axis)).map((axis) => frontAxis(axis, value.shape.length, where));
  if (over.length === 0) return summand;
  return recorder.emit(operator, [summand, recorder.integers(over)], {
    shape: reducedShape(value.shape, over, keepAxes),
    dtype: summand.dtype,
    attributes: { keepdims: keepAxes ? 1 : 0 },
  });
}

export function argmax(
  recorder: Recorder,
  value: Value,
  { axis, keepAxes = false }: { axis: number; keepAxes?: boolean | undefined },
): Value {
  const front = frontAxis(axis, value.shape.length, `argmax(${formatShape(value.shape)})`);
  const attributes = { axis: front, keepdims: keepAxes ? 1 : 0, select_last_index: 0 };
  return recorder.emit("ArgMax", [value], { shape: reducedShape(value.shape, [front], keepAxes), dtype: "i64", attributes });
}

/** exp(x − max) / Σ exp(x − max). Over an inner axis it is written out: ONNX Runtime's Softmax transposes to the last axis and back, 4.5× slower on a CPU. */
export function softmax(recorder: Recorder, value: Value, axis: number): Value {
  const rank = value.shape.length;
  const front = frontAxis(axis, rank, `softmax(${formatShape(value.shape)})`);
  if (front === rank - 1) return unary(recorder, "Softmax", value, { axis: front });
  const along = { axes: [front], keepAxes: true };
  const shifted = binary(recorder, "Sub", [value, reduce(recorder, "ReduceMax", value, along)]);
  const powers = unary(recorder, "Exp", shifted);
  return binary(recorder, "Div", [powers, reduce(recorder, "ReduceSum", powers, along)]);
}

export function matmul(recorder: Recorder, a: Value, b: Value): Value {
  const where = `matmul(${formatShape(a.shape)}, ${formatShape(b.shape)})`;
  if (a.dtype !== b.dtype) throw new EngineError(`${where}: the operands are ${a.dtype} and ${b.dtype}; cast one of them`);
  if (a.shape.length < 2 || b.shape.length < 2) throw new ShapeError(`${where}: both operands need at least two axes`);
  const [rows, inner] = [lengthOf(a.shape, a.shape.length - 2), lengthOf(a.shape, a.shape.length - 1)];
  const [depth, columns] = [lengthOf(b.shape, b.shape.length - 2), lengthOf(b.shape, b.shape.length - 1)];
  if (!sameDim(inner, depth)) throw new ShapeError(`${where}: the inner sizes differ`);
  const batch = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2), where);
  return recorder.emit("MatMul", [a, b], { shape: [...batch, rows, columns], dtype: a.dtype });
}
