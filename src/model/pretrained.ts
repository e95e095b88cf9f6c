import { checkWeights, type Weights } from "../io/safetensors.ts";

const TRUNK = "encoder.trunk.";

/**
 * Initial weights of a network with a pretrained ResNet-18 trunk, under torchvision's names. Its classifier and batch counters are ignored if
 * the network has none; any other missing, extra or differently shaped tensor is an error that names it.
 */
export function withPretrainedTrunk(start: Weights, trunk: Weights, file = "weights"): Weights {
  const own = [...start].filter(([name]) => name.startsWith(TRUNK));
  const expected = new Map(own.map(([name, { shape }]) => [name.slice(TRUNK.length), shape]));
  const optional = (name: string): boolean => name.startsWith("fc.") || name.endsWith(".num_batches_tracked");
  const given = new Map([...trunk].filter(([name]) => expected.has(name) || !optional(name)));
  checkWeights(expected, given, file);
  return new Map([...start, ...[...given].map(([name, tensor]) => [TRUNK + name, tensor] as const)]);
}
