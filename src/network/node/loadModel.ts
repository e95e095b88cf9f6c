import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { configs, type ConfigName } from "../../model/config.ts";
import { initialWeights } from "../../model/state.ts";
import { readModel, type Model } from "../weightsFile.ts";
import { createRandom } from "../../random.ts";
import { UserError } from "../../system/userError.ts";
import { packageFolder } from "../../system/packageFolder.ts";

export const isConfigName = (name: string): name is ConfigName => name in configs;

/** Where the shipped weights of a configuration are, if they are. */
export function shippedModel(name: ConfigName): string | undefined {
  const file = join(packageFolder(), "models", `${name}.safetensors`);
  return existsSync(file) ? file : undefined;
}

/** `base`, `small` or `dfv` as shipped, or a weights file. `others` are what the caller takes beside them, for the remedy. */
export function loadModel(name: string, { others = [] }: { readonly others?: readonly string[] } = {}): Model & { readonly file: string } {
  const file = isConfigName(name) ? shippedModel(name) : name;
  if (file === undefined) {
    const remedy = `train them (dualfocus train --model ${name}) and pass the file`;
    throw new UserError(`no weights of ${name} are shipped`, { exitCode: 3, remedy });
  }
  const remedy = `--model takes ${[...Object.keys(configs), ...others].join(", ")} or a .safetensors file`;
  return { ...readModel(readWeightsFile(file, remedy), file), file };
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "no such weights file",
  ENOTDIR: "no such weights file",
  EISDIR: "is a folder, not a file",
  EACCES: "may not be read",
};

function readWeightsFile(file: string, remedy: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException;
    throw new UserError(`${file}: ${UNREADABLE[code] ?? message}`, { exitCode: 3, remedy, cause });
  }
}

/** A network of this configuration as training starts it: for graphs whose values do not matter. */
export function untrainedModel(name: ConfigName): Model {
  return { config: configs[name], weights: initialWeights(configs[name], createRandom(0)), facts: { training: [] } };
}
