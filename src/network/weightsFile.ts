import { z } from "zod";

import { FormatError } from "../io/formatError.ts";
import { checkWeights, readMetadata, readWeights, writeWeights, type Storage, type Weights } from "../io/safetensors.ts";
import type { NetworkConfig } from "../model/config.ts";
import { stateShapes } from "../model/state.ts";

const width = z.number().int().positive();
const widths = z.tuple([width, width, width, width]);

const encoder = z.strictObject({
  widths,
  out: widths,
  upStep: z.enum(["conv3", "conv1"]),
  pooling: z.enum(["dfv", "sliding", "none"]),
  classifier: z.boolean(),
});

const surface = z.strictObject({
  channels: width,
  grid: z.union([z.literal("native"), z.number().int().min(2)]),
  solver: z.enum(["cosine", "dense", "confidence"]),
  norm: z.enum(["joint", "perPlane"]),
});

const networkConfig = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("dualfocus"),
    encoder,
    surface: z.union([surface, z.undefined()]),
    coarse: width,
    fusion: z.tuple([width, width, width]),
    handedOn: z.tuple([width, width]),
    handKernel: z.union([z.literal(1), z.literal(3)]),
    head: z.strictObject({ width, taps: z.union([width, z.undefined()]) }),
  }),
  z.strictObject({ kind: z.literal("dfv"), encoder }),
]);

/** A network description from JSON text, checked. `file` is named in errors. */
export function parseNetworkConfig(text: string, file: string): NetworkConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new FormatError(`${file}: the network description is not JSON`);
  }
  const result = networkConfig.safeParse(optionalFields(value));
  if (!result.success) throw new FormatError(`${file}: the network description is wrong: ${z.prettifyError(result.error)}`);
  return result.data;
}

/** JSON drops `undefined`; what may be left out is put back. */
function optionalFields(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("kind" in value) || value.kind !== "dualfocus") return value;
  const head = "head" in value && typeof value.head === "object" ? { taps: undefined, ...value.head } : undefined;
  return { surface: undefined, ...value, head };
}

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
