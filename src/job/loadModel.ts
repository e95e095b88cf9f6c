import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { configs, type ConfigName } from "../model/config.ts";
import { initialWeights } from "../model/state.ts";
import { readModel, type Model } from "../model/weightsFile.ts";
import { createRandom } from "../random.ts";
import { UserError } from "./errors.ts";
import { packageFolder } from "./version.ts";

export const isConfigName = (name: string): name is ConfigName => name in configs;

/** Where the shipped weights of a configuration are, if they are. */
export function shippedModel(name: ConfigName): string | undefined {
  const file = join(packageFolder(), "models", `${name}.safetensors`);
  return existsSync(file) ? file : undefined;
}

/** `base`, `small` or `dfv` as shipped, or a weights file. */
export function loadModel(name: string): Model & { readonly file: string } {
  const file = isConfigName(name) ? shippedModel(name) : name;
  if (file === undefined || !existsSync(file)) {
    const remedy = isConfigName(name)
      ? `train them (dualfocus train --model ${name}) and pass the file`
      : `--model takes ${Object.keys(configs).join(", ")} or a .safetensors file`;
    throw new UserError(isConfigName(name) ? `no weights of ${name} are shipped` : `${name}: no such weights file`, {
      exitCode: 3,
      remedy,
    });
  }
  return { ...readModel(readFileSync(file), file), file };
}

/** A network of this configuration as training starts it: for graphs whose values do not matter. */
export function untrainedModel(name: ConfigName): Model {
  return { config: configs[name], weights: initialWeights(configs[name], createRandom(0)), metadata: { note: "untrained" } };
}
