import { checkWeights, type Weights } from "../io/safetensors.ts";

const TRUNK = "encoder.trunk.";

/**
 * First weights of a network whose ResNet-18 trunk was trained elsewhere: torchvision's, by its own names. Its classifier and its
 * batch counters are left out where the network has none; anything else missing, extra or of another shape is an error that names it.
 */
export function withPretrainedTrunk(start: Weights, trunk: Weights, file = "weights"): Weights {
  const own = [...start].filter(([name]) => name.startsWith(TRUNK));
  const expected = new Map(own.map(([name, { shape }]) => [name.slice(TRUNK.length), shape]));
  const optional = (name: string): boolean => name.startsWith("fc.") || name.endsWith(".num_batches_tracked");
  const given = new Map([...trunk].filter(([name]) => expected.has(name) || !optional(name)));
  checkWeights(expected, given, file);
  return new Map([...start, ...[...given].map(([name, tensor]) => [TRUNK + name, tensor] as const)]);
}
