import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { FormatError } from "../io/formatError.ts";
import type { Checkpoint, TrainedOn } from "./checkpoint.ts";
import type { TrainConfig } from "./config.ts";

export interface DataRequest {
  readonly config: TrainConfig;
  readonly checkpoint?: Checkpoint | undefined;
  readonly textures?: string | undefined;
  readonly data?: string | undefined;
}

/** Where the data of a run lies: where the request says, else where the checkpoint it continues had it. */
export function findData({ config, checkpoint, ...given }: DataRequest): Pick<TrainedOn, "textures" | "data"> {
  const name = config.data.kind === "render" ? "textures" : "data";
  const path = given[name] ?? checkpoint?.trainedOn?.[name];
  if (path === undefined) return {};
  if (!existsSync(path)) {
    const kept =
      given[name] === undefined ? `; the run has been trained on what was there: give it, or something else, with --${name}` : "";
    throw new FormatError(`${path}: the ${name} are not there${kept}`);
  }
  return { [name]: resolve(path) };
}

/**
 * A resumed run goes on with as many textures as before: others are other scenes. Refuses another number, or, where the request names
 * the textures and so means them, returns a warning.
 */
export function checkTextures(count: number | undefined, { checkpoint, ...given }: DataRequest): string | undefined {
  const { textures, textureCount } = checkpoint?.trainedOn ?? {};
  if (count === undefined || textureCount === undefined || count === textureCount) return undefined;
  const before = `${textureCount} textures${textures === undefined ? "" : ` (${textures})`}`;
  if (given.textures !== undefined) return `warning: trained on ${before} so far, from here on ${count} (${given.textures})`;
  const remedy = textures === undefined ? "" : `; to go on with these, add --textures ${textures}`;
  throw new FormatError(`the run has been trained on ${before}, but there are ${count} now${remedy}`);
}
