import { floatToHalf } from "../../io/halfFloat.ts";
import { formatDim, formatShape, type Dim } from "../dims.ts";
import type { DType, NumericArray, Shape } from "../engine.ts";
import { EngineError, ShapeError } from "../errors.ts";
import { encodeModel, type Attribute, type GraphNode, type GraphValue, type Initializer } from "./bytes.ts";
import type { Volume } from "./planes.ts";

/** A node's result: its name, exact shape and type. */
export type Value = GraphValue;

export interface Emission {
  readonly shape: Shape;
  readonly dtype: DType;
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** The node's name; default: the operator's. */
  readonly label?: string;
}

export type WeightStorage = "f32" | "f16";

const HALF_FROM = 256; // elements; smaller constants gain nothing from f16

/** An ONNX graph while it is being recorded. Shapes are exact at every step, as numbers or as formulas of the inputs' sizes. */
export class Recorder {
  readonly multiples = new Map<string, number>();
  /** Values that are also recorded plane by plane, see `Volume`. */
  readonly volumes = new Map<string, Volume>();
  readonly planeByPlane: boolean;
  readonly #inputs: Value[] = [];
  readonly #nodes = new Map<string, GraphNode>(); // by output
  readonly #initializers = new Map<string, Initializer>();
  readonly #work = new Map<string, number>(); // multiply-accumulates, by output
  readonly #names = new Set<string>();
  readonly #used = new Map<string, number>(); // the next suffix to try, by label
  readonly #shared = new Map<string, Value>(); // scalars, shape vectors and sizes, each recorded once
  readonly #sources = new Map<string, { readonly input: string; readonly axis: number }>(); // the input that a symbol's size is read from

  constructor({ planeByPlane = false }: { readonly planeByPlane?: boolean } = {}) {
    this.planeByPlane = planeByPlane;
  }

  input(value: Value, multipleOf: Readonly<Record<string, number>>): Value {
    if (this.#names.has(value.name)) throw new EngineError(`input: the graph has a value called ${value.name} already`);
    for (const [axis, dim] of value.shape.entries()) {
      if (typeof dim === "number") continue;
      const name = formatDim(dim);
      if (dim.factors.length !== 1 || name !== dim.factors[0]) {
        if (dim.factors.every((factor) => this.#sources.has(factor))) continue; // known from an earlier input
        throw new ShapeError(
          `input ${value.name}: a size must be a number, a plain symbol or made of earlier inputs' symbols, got ${name}`,
        );
      }
      if (!this.#sources.has(name)) this.#sources.set(name, { input: value.name, axis });
      this.multiples.set(name, multipleOf[name] ?? this.multiples.get(name) ?? 1);
    }
    const unknown = Object.keys(multipleOf).find((name) => !this.#sources.has(name));
    if (unknown !== undefined) throw new ShapeError(`input ${value.name}: multipleOf names ${unknown}, which is not a size of an input`);
    this.#names.add(value.name);
    this.#inputs.push(value);
    return value;
  }

  /** Adds a node and returns its one result. */
  emit(operator: string, inputs: readonly (Value | undefined)[], { shape, dtype, attributes = {}, label }: Emission): Value {
    const name = this.#unique(label ?? operator);
    this.#nodes.set(name, { name, operator, inputs: inputs.map((input) => input?.name ?? ""), output: name, attributes });
    this.#work.set(name, multiplyAccumulates(operator, inputs, shape));
    return { name, shape, dtype };
  }

  /**
   * The data is kept by reference, not copied: it must not change before the graph is finished. A function is called only when the
   * values are needed, so never for a constant that is dropped.
   */
  initializer(
    data: NumericArray | (() => NumericArray),
    { shape, dtype, name = "constant" }: { shape: readonly number[]; dtype: DType; name?: string },
  ): Value {
    const unique = this.#unique(name);
    const made = typeof data === "function" ? { get data() { return data(); } } : { data }; // prettier-ignore
    this.#initializers.set(
      unique,
      Object.defineProperties({ name: unique, dtype, shape } as Initializer, Object.getOwnPropertyDescriptors(made)),
    );
    return { name: unique, shape, dtype };
  }

  /** A value's data if it is a constant of the graph. */
  constant(name: string | undefined): Initializer | undefined {
    return name === undefined ? undefined : this.#initializers.get(name);
  }

  producerOf(value: Value): GraphNode | undefined {
    return this.#nodes.get(value.name);
  }

  /** Records `make` under `key` the first time and returns the same value afterwards. */
  once(key: string, make: () => Value): Value {
    const known = this.#shared.get(key) ?? make();
    this.#shared.set(key, known);
    return known;
  }

  /** A constant list of integers: axes, pads, sizes. */
  integers(values: readonly number[]): Value {
    const make = (): Value =>
      this.initializer(BigInt64Array.from(values, BigInt), { shape: [values.length], dtype: "i64", name: `integers_${values.join("_")}` });
    return this.once(`integers ${values.join()}`, make);
  }

  /** The sizes as one i64 list, read from the graph's inputs where they are symbolic. */
  sizes(shape: Shape): Value {
    if (shape.every((dim) => typeof dim === "number")) return this.integers(shape);
    return this.once(`sizes ${formatShape(shape)}`, () => {
      const parts = shape.map((dim) => this.#size(dim));
      const only = parts.length === 1 ? parts[0] : undefined;
      return only ?? this.emit("Concat", parts, { shape: [shape.length], dtype: "i64", attributes: { axis: 0 }, label: "sizes" });
    });
  }

  /** One size as an i64 list of length 1: numerator · Π factors / denominator + offset. */
  #size(dim: Dim): Value {
    if (typeof dim === "number") return this.integers([dim]);
    return this.once(`size ${formatDim(dim)}`, () => {
      const step = (operator: string, value: Value, n: number, neutral: number): Value =>
        n === neutral ? value : this.emit(operator, [value, this.integers([n])], { shape: [1], dtype: "i64", label: "size" });
      const product = dim.factors
        .map((factor) => this.#symbol(factor))
        .reduce((a, b) => this.emit("Mul", [a, b], { shape: [1], dtype: "i64", label: "size" }));
      return step("Add", step("Div", step("Mul", product, dim.numerator, 1), dim.denominator, 1), dim.offset, 0);
    });
  }

  #symbol(name: string): Value {
    return this.once(`size ${name}`, () => {
      const source = this.#sources.get(name);
      const input = this.#inputs.find((value) => value.name === source?.input);
      if (!source || !input) throw new ShapeError(`the size ${name} does not belong to any input of this graph`);
      const attributes = { start: source.axis, end: source.axis + 1 };
      return this.emit("Shape", [input], { shape: [1], dtype: "i64", attributes, label: `size_${name}` });
    });
  }

  /** The graph's bytes; only what the outputs need. */
  finish({ outputs, storage, metadata }: FinishOptions): Uint8Array {
    if (Object.keys(outputs).length === 0) throw new EngineError("finish: a graph needs at least one output");
    const results = Object.entries(outputs).map(([name, value]): Value => {
      if (this.#names.has(name)) throw new EngineError(`finish: ${name} is already a value of the graph; give the output another name`);
      return { ...value, name };
    });
    const identities = Object.entries(outputs).map(([name, value]): GraphNode => ({
      name,
      operator: "Identity",
      inputs: [value.name],
      output: name,
      attributes: {},
    }));
    const needed = this.#neededFor(Object.values(outputs));
    const nodes = [...this.#nodes.values()].filter((node) => needed.has(node.output));
    const constants = [...this.#initializers.values()].filter((constant) => needed.has(constant.name));
    const stored = storage === "f16" ? storeHalf(constants) : { initializers: constants, casts: [] };
    return encodeModel({
      name: "dualfocus",
      nodes: [...stored.casts, ...nodes, ...identities],
      initializers: stored.initializers,
      inputs: this.#inputs,
      outputs: results,
      metadata,
    });
  }

  /** Multiply-accumulates needed to compute these values once. */
  multiplyAccumulates(values: readonly Value[]): number {
    return [...this.#neededFor(values)].reduce((sum, name) => sum + (this.#work.get(name) ?? 0), 0);
  }

  #neededFor(values: readonly Value[]): Set<string> {
    const needed = new Set<string>();
    const waiting = values.map((value) => value.name);
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (needed.has(name)) continue;
      needed.add(name);
      waiting.push(...(this.#nodes.get(name)?.inputs ?? []));
    }
    return needed;
  }

  #unique(label: string): string {
    let [name, i] = [label, this.#used.get(label) ?? 1];
    for (; this.#names.has(name); i++) name = `${label}_${i}`;
    this.#used.set(label, i);
    this.#names.add(name);
    return name;
  }
}

interface FinishOptions {
  readonly outputs: Readonly<Record<string, Value>>;
  readonly storage: WeightStorage;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Large f32 constants as f16 followed by a Cast, which ONNX Runtime folds when it loads the graph. */
function storeHalf(constants: readonly Initializer[]): { initializers: Initializer[]; casts: GraphNode[] } {
  const casts: GraphNode[] = [];
  const initializers = constants.map((constant): Initializer => {
    if (constant.dtype !== "f32" || constant.data.length < HALF_FROM) return constant;
    const name = `${constant.name}.f16`;
    const attributes = { to: 1 }; // TensorProto.FLOAT
    casts.push({ name: `${constant.name}.cast`, operator: "Cast", inputs: [name], output: constant.name, attributes });
    return { ...constant, name, dtype: "f16", data: floatToHalf(constant.data as Float32Array) };
  });
  return { initializers, casts };
}

/** Multiply-accumulates of one node, counting convolutions and matrix products only (nearly all of the work); NaN if a size is unknown. */
function multiplyAccumulates(operator: string, inputs: readonly (GraphValue | undefined)[], shape: Shape): number {
  const product = (sizes: Shape): number => sizes.reduce<number>((result, size) => result * (typeof size === "number" ? size : NaN), 1);
  if (operator === "Conv") return product(shape) * product(inputs[1]?.shape.slice(1) ?? []); //    per output: channels × window
  if (operator === "MatMul") return product(shape) * product(inputs[0]?.shape.slice(-1) ?? []); // per output: the inner size
  return 0;
}
