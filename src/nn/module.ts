import { elementCount } from "../engine/dims.ts";
import type { Engine, Tensor } from "../engine/engine.ts";
import { ShapeError } from "../engine/errors.ts";
import { keep } from "../engine/scope.ts";
import type { Weights } from "../io/safetensors.ts";
import type { Random } from "../random.ts";

export type { Weights } from "../io/safetensors.ts";

/** Initial values of a parameter of this shape. */
export type Initialiser = (shape: readonly number[], random: Random) => Float32Array;

/** Whether batch norms use the statistics of the batch. One object, shared by all modules of a network. */
export interface Mode {
  training: boolean;
}

/**
 * Creates a module's tensors while it is built. Names nest with dots as in PyTorch (`encoder.layer1.0.conv1.weight`), so that
 * PyTorch's state files can be loaded.
 */
export interface ParameterSource {
  readonly engine: Engine;
  readonly mode: Mode;
  /** A tensor that is trained. */
  parameter(name: string, shape: readonly number[], initialise: Initialiser): Tensor;
  /** A tensor of the state that is not trained: running statistics. */
  buffer(name: string, shape: readonly number[], initialise: Initialiser): Tensor;
  /** The source of a sub-module. */
  at(name: string | number): ParameterSource;
}

/** All tensors of a network by name, in the order of creation. */
export interface ParameterTree {
  readonly source: ParameterSource;
  readonly mode: Mode;
  readonly parameters: ReadonlyMap<string, Tensor>;
  readonly buffers: ReadonlyMap<string, Tensor>;
  /** Every parameter and buffer. */
  readonly state: ReadonlyMap<string, Tensor>;
}

/** Source of the initial values: a weights file, a seeded generator, or zeros if only names and shapes matter. */
type Origin = { readonly weights: Weights } | { readonly random: Random } | "blank";

export function createParameters(engine: Engine, origin: Origin): ParameterTree {
  const parameters = new Map<string, Tensor>();
  const buffers = new Map<string, Tensor>();
  const mode: Mode = { training: false };

  const make = (name: string, shape: readonly number[], initialise: Initialiser): Tensor => {
    if (parameters.has(name) || buffers.has(name)) throw new Error(`parameters: "${name}" is created twice`);
    return keep(engine.constant(values(origin, { name, shape, initialise }), { shape, name }));
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

function values(
  origin: Origin,
  { name, shape, initialise }: { readonly name: string; readonly shape: readonly number[]; readonly initialise: Initialiser },
): Float32Array {
  if (origin === "blank") return new Float32Array(elementCount(shape));
  if ("random" in origin) return initialise(shape, origin.random.split(name));
  const found = origin.weights.get(name);
  if (!found) throw new ShapeError(`weights: "${name}" [${shape.join(", ")}] is missing`);
  return found.data;
}
