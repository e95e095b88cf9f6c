import type { Tensor } from "../engine/engine.ts";
import { createOnnxEngine } from "../engine/onnx/onnxEngine.ts";
import type { WeightArray, Weights } from "../io/safetensors.ts";
import { createParameters, type Initialiser, type ParameterSource, type ParameterTree } from "../nn/module.ts";
import type { Random } from "../random.ts";
import type { NetworkConfig } from "./config.ts";
import { createNetwork } from "./network.ts";

/** A network's tensors without values: built on the recording engine, which computes nothing. */
function blankTree(config: NetworkConfig): ParameterTree {
  const tree = createParameters(createOnnxEngine(), "blank");
  createNetwork(tree.source, config);
  return tree;
}

/** Name and shape of every parameter and buffer: what a weights file of this network holds. */
export function stateShapes(config: NetworkConfig): ReadonlyMap<string, readonly number[]> {
  return new Map([...blankTree(config).state].map(([name, { shape }]) => [name, shape as readonly number[]]));
}

/** Number of trainable parameters. */
export function countParameters(config: NetworkConfig): number {
  const count = ({ shape }: Tensor): number => (shape as readonly number[]).reduce((product, size) => product * size, 1);
  return [...blankTree(config).parameters.values()].reduce((sum, tensor) => sum + count(tensor), 0);
}

/**
 * Multiply-accumulates of one forward pass up to p for a stack of this size, batch norms folded. `planeByPlane`, as in the graph for CPUs,
 * leaves out those with the zero planes before the first and after the last.
 */
export function countMultiplyAccumulates(
  config: NetworkConfig,
  { planes, height, width }: { planes: number; height: number; width: number },
  { planeByPlane = false } = {},
): number {
  const engine = createOnnxEngine({ planeByPlane });
  const network = createNetwork(createParameters(engine, "blank").source, config);
  const images = engine.input("images", [1, planes, 3, height, width]);
  const { focusProbability } = network.forward({ images, focusDistances: engine.input("focusDistances", [1, planes]) });
  return engine.multiplyAccumulates([focusProbability]);
}

/** Initial weights of a new network; the same, name by name, as `createParameters` draws from this generator. */
export function initialWeights(config: NetworkConfig, random: Random): Weights {
  const weights = new Map<string, WeightArray>();
  const { source } = createParameters(createOnnxEngine(), "blank");
  const collecting = (inner: ParameterSource, prefix: string): ParameterSource => {
    const draw = (name: string, shape: readonly number[], initialise: Initialiser): void => {
      weights.set(prefix + name, { shape, data: initialise(shape, random.split(prefix + name)) });
    };
    return {
      ...inner,
      parameter(name, shape, initialise) {
        draw(name, shape, initialise);
        return inner.parameter(name, shape, initialise);
      },
      buffer(name, shape, initialise) {
        draw(name, shape, initialise);
        return inner.buffer(name, shape, initialise);
      },
      at: (name) => collecting(inner.at(name), `${prefix}${name}.`),
    };
  };
  createNetwork(collecting(source, ""), config);
  return weights;
}
