import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { configs, type ConfigName } from "../../model/config.ts";
import { initialWeights } from "../../model/state.ts";
import { readModel, type Model } from "../weightsFile.ts";
import { createRandom } from "../../random.ts";
import { DualFocusError } from "../../errors.ts";
import { reasonOf } from "../../system/errno.ts";
import { packageFolder } from "../../system/packageFolder.ts";

export const isConfigName = (name: string): name is ConfigName => name in configs;

/** Where the shipped weights of a configuration are, if they are. */
export function shippedModel(name: ConfigName): string | undefined {
  const file = join(packageFolder(), "models", `${name}.safetensors`);
  return existsSync(file) ? file : undefined;
}

/** `base`, `small` or `dfv` as shipped, or a weights file. `others` are what the caller takes beside them. */
export function loadModel(name: string, { others = [] }: { readonly others?: readonly string[] } = {}): Model & { readonly file: string } {
  const file = isConfigName(name) ? shippedModel(name) : name;
  if (file === undefined) throw new DualFocusError("no-weights", `no weights of ${name} are shipped`, { facts: { model: name } });
  return { ...readModel(readWeightsFile(file, [...Object.keys(configs), ...others]), file), file };
}

function readWeightsFile(file: string, known: readonly string[]): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new DualFocusError("unknown-model", `${file}: ${reasonOf(cause)}`, { facts: { known: known.join(", ") }, cause });
  }
}

/** A network of this configuration as training starts it: for graphs whose values do not matter. */
export function untrainedModel(name: ConfigName): Model {
  return { config: configs[name], weights: initialWeights(configs[name], createRandom(0)), facts: { training: [] } };
}
