import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { DualFocusError } from "../errors.ts";
import { FormatError } from "../io/formatError.ts";
import type { NetworkFacts } from "../network/facts.ts";
import type { Checkpoint, Position, TrainedOn } from "./checkpoint.ts";
import type { TrainConfig } from "./config.ts";

export interface DataRequest {
  readonly config: TrainConfig;
  readonly checkpoint?: Checkpoint | undefined;
  readonly textures?: string | undefined;
  readonly data?: string | undefined;
}

/** Paths of a run's data: those of the request, or else those of the checkpoint it continues from. */
export function findData({ config, checkpoint, ...given }: DataRequest): Pick<TrainedOn, "textures" | "data"> {
  const name = config.data.kind === "render" ? "textures" : "data";
  const path = given[name] ?? checkpoint?.trainedOn?.[name];
  if (path === undefined) return {};
  if (!existsSync(path)) {
    const kept = given[name] === undefined ? `, where the ${name} of the run were: give their new place, or others` : "";
    throw new DualFocusError("file-not-found", `${path}: there is no such file or folder${kept}`, { facts: { file: path } });
  }
  return { [name]: resolve(path) };
}

/**
 * A resumed run continues with as many textures as before, because other textures mean other scenes. Refuses another number; returns a
 * warning instead if the request names the textures.
 */
export function checkTextures(count: number | undefined, { checkpoint, ...given }: DataRequest): string | undefined {
  const { textures, textureCount } = checkpoint?.trainedOn ?? {};
  if (count === undefined || textureCount === undefined || count === textureCount) return undefined;
  const before = `${textureCount} textures${textures === undefined ? "" : ` (${textures})`}`;
  if (given.textures !== undefined) return `warning: trained on ${before} so far, from now on ${count} (${given.textures})`;
  const remedy = textures === undefined ? "" : `; to continue with these, name ${textures} again`;
  throw new FormatError(`the run was trained on ${before}, but there are ${count} now${remedy}`);
}

/** What the weights file of a run says about its network. */
export function trainedFacts({ config: { data, augment, batch, seed }, step, seconds, trainedOn }: Position): NetworkFacts {
  const isOurs = data.kind === "render" || data.kind === "folder" || data.kind === "pairs";
  const run = { data: data.kind, steps: step, minutes: Number((seconds / 60).toFixed(1)), seed };
  return {
    average: data.kind === "render" && augment.dioptres === 1 ? "dioptres" : "metres", // eq. 6, PAPER.md 34
    planes: [Math.min(...batch.planes), Math.max(...batch.planes)],
    ...(isOurs ? {} : { licence: `terms of the ${data.kind} data (docs/datasets.md)` }),
    training: [...(trainedOn?.before ?? []), run],
  };
}
