import { FormatError } from "../io/formatError.ts";
import {
  checkWeights,
  decodeSafetensors,
  encodeSafetensors,
  readMetadata,
  readWeights,
  writeWeights,
  type Storage,
  type WeightArray,
  type Weights,
} from "../io/safetensors.ts";
import { parseNetworkConfig, type NetworkConfig } from "../model/config.ts";
import { stateShapes } from "../model/state.ts";
import { formatFacts, parseFacts, type NetworkFacts } from "./facts.ts";

/** A network: its architecture, its tensors, and what is known about it. */
export interface Model {
  readonly config: NetworkConfig;
  readonly weights: Weights;
  readonly facts: NetworkFacts;
}

/** Reads a `.safetensors` file whose metadata hold the network description under `config`, and its facts (docs/library.md). */
export function readModel(bytes: Uint8Array, file: string): Model {
  const { config, ...rest } = readMetadata(bytes, file);
  if (config === undefined) throw new FormatError(`${file}: holds tensors but no network description; it was not written by dualfocus`);
  const model = { config: parseNetworkConfig(config, file), weights: readWeights(bytes, file), facts: parseFacts(rest, file) };
  checkWeights(stateShapes(model.config), model.weights, file);
  return model;
}

/** The facts of a weights file alone. */
export function readFacts(bytes: Uint8Array, file: string): NetworkFacts {
  const texts = Object.entries(readMetadata(bytes, file)).filter(([key]) => key !== "config");
  return parseFacts(Object.fromEntries(texts), file);
}

export function writeModel({ config, weights, facts }: Model, { storage }: { readonly storage: Storage }): Uint8Array {
  return writeWeights(weights, { storage, metadata: { ...formatFacts(facts), config: JSON.stringify(config) } });
}

/** The same file with other facts; its tensors stay the same, byte for byte. */
export function replaceFacts(bytes: Uint8Array, facts: NetworkFacts, file: string): Uint8Array {
  const { tensors, metadata } = decodeSafetensors(bytes, file);
  const { config } = readModel(bytes, file);
  const kept = Object.entries(metadata).filter(([key]) => key.startsWith("dualfocus.")); // how the tensors are stored
  return encodeSafetensors({ tensors, metadata: { ...formatFacts(facts), config: JSON.stringify(config), ...Object.fromEntries(kept) } });
}

/**
 * The mean of two networks' weights. Where one was trained further from the other, it keeps much of what either is better at (Wortsman et al., Robust fine-tuning of zero-shot models, 2022).
 * It states what `model` states, but for the calibration of the error, which is not the mean's; the licences of both apply.
 */
export function meanModel({ config, weights, facts }: Model, other: Model): Model {
  const means = [...weights].map(([name, { shape, data }]) => {
    const { data: others } = other.weights.get(name) as WeightArray;
    return [name, { shape, data: data.map((value, i) => (value + (others[i] as number)) / 2) }] as const;
  });
  const stated: NetworkFacts = Object.fromEntries(Object.entries(facts).filter(([fact]) => fact !== "errorModel"));
  const licences = new Set([facts.licence, other.facts.licence].filter((licence) => licence !== undefined));
  return { config, weights: new Map(means), facts: { ...stated, ...(licences.size > 0 ? { licence: [...licences].join(" and ") } : {}) } };
}
