import { FormatError } from "../io/formatError.ts";
import { checkWeights, readMetadata, readWeights, writeWeights, type Storage, type Weights } from "../io/safetensors.ts";
import { parseNetworkConfig, type NetworkConfig } from "../model/config.ts";
import { stateShapes } from "../model/state.ts";

/** How eq. 6 averages metres: in dioptres, or as the paper prints it. PAPER.md, 34. */
export type Average = "dioptres" | "as printed";

/** What the weights were trained for, as training has noted it in their file. */
export const averageOf = ({ metadata }: Pick<Model, "metadata">): Average =>
  metadata["average"] === "dioptres" ? "dioptres" : "as printed";

/** A trained network: what it is, its tensors, and whatever its makers noted. */
export interface Model {
  readonly config: NetworkConfig;
  readonly weights: Weights;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A `.safetensors` file whose metadata holds the network description under `config`. */
export function readModel(bytes: Uint8Array, file: string): Model {
  const { config, ...rest } = readMetadata(bytes, file);
  if (config === undefined) throw new FormatError(`${file}: holds tensors but no network description; it was not written by dualfocus`);
  const model = { config: parseNetworkConfig(config, file), weights: readWeights(bytes, file), metadata: rest };
  checkWeights(stateShapes(model.config), model.weights, file);
  return model;
}

export function writeModel({ config, weights, metadata }: Model, { storage }: { readonly storage: Storage }): Uint8Array {
  return writeWeights(weights, { storage, metadata: { ...metadata, config: JSON.stringify(config) } });
}
