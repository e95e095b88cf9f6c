import type { Tensor } from "../engine/engine.ts";
import { createOnnxEngine } from "../engine/onnx.ts";
import { createParameters, type ParameterTree } from "../nn/module.ts";
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

/** Numbers that training changes. */
export function countParameters(config: NetworkConfig): number {
  const count = ({ shape }: Tensor): number => (shape as readonly number[]).reduce((product, size) => product * size, 1);
  return [...blankTree(config).parameters.values()].reduce((sum, tensor) => sum + count(tensor), 0);
}
