import type { Engine, Tensor } from "../engine/engine.ts";
import { ShapeError } from "../engine/errors.ts";
import { keep } from "../engine/scope.ts";
import type { Random } from "../random.ts";

/** The values of one named tensor, as weight files hold them. */
export interface WeightArray {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export type Weights = ReadonlyMap<string, WeightArray>;

/** First values of a parameter of this shape. */
export type Initialiser = (shape: readonly number[], random: Random) => Float32Array;

/** Whether batch norms use the batch's own statistics. One object, shared by every module of a network. */
export interface Mode {
  training: boolean;
}

/**
 * Where a module gets its tensors while it is built. Names nest with dots as in PyTorch (`encoder.layer1.0.conv1.weight`),
 * so that a state file of the one is a state file of the other.
 */
export interface ParameterSource {
  readonly engine: Engine;
  readonly mode: Mode;
  /** A tensor that training changes. */
  parameter(name: string, shape: readonly number[], initialise: Initialiser): Tensor;
  /** A tensor that belongs to the state but is not trained: running statistics. */
  buffer(name: string, shape: readonly number[], initialise: Initialiser): Tensor;
  /** The source of a sub-module. */
  at(name: string | number): ParameterSource;
}

/** All tensors of a network by name, in the order they were made. */
export interface ParameterTree {
  readonly source: ParameterSource;
  readonly mode: Mode;
  readonly parameters: ReadonlyMap<string, Tensor>;
  readonly buffers: ReadonlyMap<string, Tensor>;
  /** Every parameter and buffer. */
  readonly state: ReadonlyMap<string, Tensor>;
}

type Origin = { readonly weights: Weights } | { readonly random: Random };

/** New tensors from a seeded generator, or those of a weights file; the file must hold exactly what the network asks for. */
export function createParameters(engine: Engine, origin: Origin): ParameterTree {
  const parameters = new Map<string, Tensor>();
  const buffers = new Map<string, Tensor>();
  const mode: Mode = { training: false };

  const make = (name: string, shape: readonly number[], initialise: Initialiser): Tensor => {
    if (parameters.has(name) || buffers.has(name)) throw new Error(`parameters: "${name}" is made twice`);
    const data = "weights" in origin ? find(origin.weights, name, shape) : initialise(shape, origin.random.split(name));
    return keep(engine.constant(data, { shape, name }));
  };
  const source = (prefix: string): ParameterSource => ({
    engine,
    mode,
    parameter: (name, shape, initialise) => entry(parameters, prefix + name, make(prefix + name, shape, initialise)),
    buffer: (name, shape, initialise) => entry(buffers, prefix + name, make(prefix + name, shape, initialise)),
    at: (name) => source(`${prefix}${name}.`),
  });
  return {
    source: source(""),
    mode,
    parameters,
    buffers,
    get state() {
      return new Map([...parameters, ...buffers]);
    },
  };
}

function entry(map: Map<string, Tensor>, name: string, tensor: Tensor): Tensor {
  map.set(name, tensor);
  return tensor;
}

function find(weights: Weights, name: string, shape: readonly number[]): Float32Array {
  const found = weights.get(name);
  if (!found) throw new ShapeError(`weights: "${name}" [${shape.join(", ")}] is missing`);
  if (found.shape.length !== shape.length || found.shape.some((size, axis) => size !== shape[axis]))
    throw new ShapeError(`weights: "${name}" should be [${shape.join(", ")}], is [${found.shape.join(", ")}]`);
  return found.data;
}

/** Throws when the file holds tensors the network has no place for. */
export function checkNoneLeft(tree: ParameterTree, weights: Weights): void {
  const { state } = tree;
  const extra = [...weights.keys()].filter((name) => !state.has(name));
  if (extra.length > 0)
    throw new ShapeError(
      `weights: the network has no "${extra.slice(0, 5).join('", "')}"${extra.length > 5 ? ` and ${extra.length - 5} more` : ""}`,
    );
}

/** Numbers in all tensors of the map. */
export function countElements(tensors: ReadonlyMap<string, Tensor>): number {
  return [...tensors.values()].reduce((sum, { shape }) => sum + shape.reduce<number>((product, size) => product * (size as number), 1), 0);
}
