import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { configs, type ConfigName } from "../../model/config.ts";
import { initialWeights } from "../../model/state.ts";
import { readModel, type Model } from "../weightsFile.ts";
import { createRandom } from "../../random.ts";
import { DualFocusError } from "../../errors.ts";
import { FormatError } from "../../io/formatError.ts";
import { reasonOf } from "../../system/errno.ts";
import { packageFolder } from "../../system/packageFolder.ts";

export const isConfigName = (name: string): name is ConfigName => name in configs;

/** Where the shipped weights of a configuration are, if they are. */
export function shippedModel(name: ConfigName): string | undefined {
  const file = join(packageFolder(), "models", `${name}.safetensors`);
  return existsSync(file) ? file : undefined;
}

const shippedNames = (): string[] => Object.keys(configs).filter((name) => shippedModel(name as ConfigName) !== undefined);

/** Commits of this repository that hold weights which are no longer shipped. */
const COMMITS: Partial<Record<ConfigName, string>> = { base: "41c6642", dfv: "d07246a" };

/** A network's weights as shipped, or a weights file. `others` are what the caller takes beside them. */
export function loadModel(name: string, { others = [] }: { readonly others?: readonly string[] } = {}): Model & { readonly file: string } {
  const file = isConfigName(name) ? shippedModel(name) : name;
  if (file === undefined) {
    const commit = isConfigName(name) ? COMMITS[name] : undefined;
    throw new DualFocusError("no-weights", `no weights of ${name} are shipped`, { facts: { model: name, ...(commit && { commit }) } });
  }
  try {
    return { ...readModel(readFileSync(file), file), file };
  } catch (cause) {
    const message = cause instanceof FormatError ? cause.message : `${file}: ${reasonOf(cause)}`;
    throw new DualFocusError("unknown-model", message, { facts: { known: [...shippedNames(), ...others].join(", ") }, cause });
  }
}

/** A network of this configuration as training starts it: for graphs whose values do not matter. */
export function untrainedModel(name: ConfigName): Model {
  return { config: configs[name], weights: initialWeights(configs[name], createRandom(0)), facts: { training: [] } };
}
