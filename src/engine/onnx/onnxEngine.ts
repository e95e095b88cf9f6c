import { elementCount, formatShape } from "../dims.ts";
import type { DType, Engine, Shape, Tensor } from "../engine.ts";
import { ShapeError } from "../errors.ts";
import { concat, expand, range } from "./layout.ts";
import { toArray } from "../typedArray.ts";
import { scalar } from "./math.ts";
import { concatPlanes } from "./planes.ts";
import { Recorder, type Value, type WeightStorage } from "./recorder.ts";
import { OnnxTensor, valueOf } from "./tensor.ts";

export interface InputOptions {
  readonly dtype?: DType;
  /** `{ H: 32 }`: the caller promises that H is a multiple of 32, so that strides divide it exactly. */
  readonly multipleOf?: Readonly<Record<string, number>>;
}

export interface GraphOptions {
  /** The graph's outputs by name. */
  readonly outputs: Readonly<Record<string, Tensor>>;
  /** How large constants are stored; computation is in f32 either way. */
  readonly storage?: WeightStorage;
  /** Free text kept in the file (`metadata_props`). */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * An engine that computes nothing: it records operations as an ONNX graph (opset 21). A constant given as the typed array of its
 * dtype is not copied: its values must not change before `finish`.
 */
export interface OnnxEngine extends Engine {
  /** A graph input. A symbolic size is a plain `symbol("H")`, the same size wherever it occurs, or computed from symbols of earlier inputs. */
  input(name: string, shape: Shape, options?: InputOptions): Tensor;
  /** The bytes of the `.onnx` file. Nodes and constants that no output needs are dropped. */
  finish(options: GraphOptions): Uint8Array;
  /** Multiply-accumulates needed to compute these tensors once; NaN if a size is symbolic. */
  multiplyAccumulates(tensors: readonly Tensor[]): number;
}

export interface OnnxOptions {
  /** Record operations on volumes with a known number of planes plane by plane: faster in ONNX Runtime on a CPU, see `Volume`. */
  readonly planeByPlane?: boolean;
}

export function createOnnxEngine(options: OnnxOptions = {}): OnnxEngine {
  const recorder = new Recorder(options);
  const wrap = (value: Value): Tensor => new OnnxTensor(engine, recorder, value);
  const constant: OnnxEngine["constant"] = (values, { shape, dtype = "f32", name }) => {
    const count = elementCount(shape);
    if (values.length !== count) throw new ShapeError(`constant: ${formatShape(shape)} needs ${count} values, got ${values.length}`);
    return wrap(recorder.initializer(toArray(values, dtype), { shape, dtype, ...(name === undefined ? {} : { name }) }));
  };
  const engine: OnnxEngine = {
    constant,
    input: (name, shape, { dtype = "f32", multipleOf = {} } = {}) => wrap(recorder.input({ name, shape, dtype }, multipleOf)),
    full(shape, value, { dtype = "f32" } = {}) {
      const sizes = shape.filter((dim) => typeof dim === "number");
      if (sizes.length < shape.length) return wrap(expand(recorder, scalar(recorder, value, dtype), shape));
      return constant(new Float64Array(elementCount(sizes)).fill(value), { shape: sizes, dtype });
    },
    range: (length, { dtype = "f32" } = {}) => wrap(range(recorder, length, dtype)),
    concat(tensors, axis) {
      const values = tensors.map((tensor) => valueOf(tensor, recorder));
      return wrap(concatPlanes(recorder, values, axis) ?? concat(recorder, values, axis));
    },
    fullPrecision: (body) => body(),
    finish({ outputs, storage = "f32", metadata = {} }) {
      const values = Object.fromEntries(Object.entries(outputs).map(([name, tensor]) => [name, valueOf(tensor, recorder)]));
      return recorder.finish({ outputs: values, storage, metadata });
    },
    multiplyAccumulates: (tensors) => recorder.multiplyAccumulates(tensors.map((tensor) => valueOf(tensor, recorder))),
  };
  return engine;
}
