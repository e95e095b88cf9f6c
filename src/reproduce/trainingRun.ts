import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

import { DualFocusError } from "../errors.ts";
import { configs } from "../model/config.ts";
import { writeAtomically } from "../system/atomicFile.ts";
import { readCheckpoint } from "../train/checkpoint.ts";
import { changedSettings, ConfigError, overrideConfig, shortSettings, type TrainConfig } from "../train/config.ts";
import { presets, type PresetName } from "../train/presets.ts";
import { runFiles } from "../train/run.ts";
import { applyVariant } from "../train/variants.ts";
import type { TrainRecipe } from "./paperTable.ts";
import type { JobContext, TrainingJob } from "./jobs.ts";
import type { Runner } from "./processes.ts";
import { commandLine } from "./report.ts";

/** What all training runs of a table have in common. */
export interface TrainSettings {
  readonly preset: PresetName;
  /** Network whose parts are changed; the preset's own if left out. */
  readonly model: "base" | "small" | undefined;
  /** The preset's own budget if left out. */
  readonly steps: number | undefined;
  /** Folder of the set, for presets that read one. */
  readonly data: string | undefined;
  readonly device: string;
  readonly textures: string | undefined;
  readonly threads: number | undefined;
  /** As `dualfocus train --set` takes them. */
  readonly settings: readonly string[];
}

/** Whether the training runs read one of the sets the paper measures on. */
export const isPublished = ({ preset }: TrainSettings): boolean => presets[preset].data.kind !== "render";

/** A row's network trained with one seed, in a folder of its own. */
export interface TrainingRun extends TrainingJob {
  readonly name: string;
  /** Number of planes it is measured with. */
  readonly planes: number;
  /** What a person would type to train it from nothing. */
  readonly command: string;
}

/** A name for the folder: the same for equal recipes, another for any other. */
export function runName({ variant, planes }: TrainRecipe, seed = 0): string {
  const some = planes.length === 1 ? [`planes${planes.join("_")}`] : [];
  const parts = variant === "both" && some.length > 0 ? some : [variant, ...some];
  return [...parts, ...(seed === 0 ? [] : [`seed${seed}`])].join("-");
}

/** Wrong settings are refused here, before anything runs. */
export function trainingRun(
  recipe: TrainRecipe,
  { seed, folder: parent, settings }: { readonly seed: number; readonly folder: string; readonly settings: TrainSettings },
): TrainingRun {
  const { preset, model, steps, device, data, textures, threads } = settings;
  const name = runName(recipe, seed);
  const folder = join(parent, name);
  const trained = isPublished(settings) ? recipe.planes.slice(0, 1) : recipe.planes; // the paper trains with those it measures
  const sets = [...settings.settings, `batch.planes=${JSON.stringify(trained)}`];
  const start: TrainConfig = { ...presets[preset], ...(model !== undefined && { model: configs[model] }) };
  const config = applyVariant(overrideConfig(start, [...shortSettings({ steps, seed }), ...sets]), recipe.variant);
  const options = { preset, model, variant: recipe.variant, steps, seed, device, data, textures, threads, set: sets, output: folder };
  return {
    name,
    config,
    folder,
    device,
    data,
    textures,
    threads,
    planes: recipe.planes[0] as number,
    command: commandLine("train", options),
  };
}

const outcome = z.object({ step: z.number(), seconds: z.number(), stopped: z.boolean(), metrics: z.record(z.string(), z.number()) });
export type Outcome = z.infer<typeof outcome>;

/** What is kept beside a run; older versions wrote no `config`. */
const record = z.object({ config: z.custom<TrainConfig>().optional(), outcome: outcome.optional() });

/** Trains one run, continues one that was interrupted, or takes the outcome of one that is finished. */
export async function trainOnce(
  planned: TrainingRun,
  { run: { train }, stop, progress }: JobContext & { readonly run: Pick<Runner, "train"> },
): Promise<Outcome> {
  const { name, config, folder, device, data, textures, threads } = planned;
  await mkdir(folder, { recursive: true });
  const file = join(folder, "run.json");
  const before = await readRecord(file);
  const changed = changedSettings((before && (before.config ?? (await checkpointConfig(folder)))) ?? config, config);
  if (changed.length > 0)
    throw new ConfigError(`${folder}: was trained with other settings: ${changed.join(", ")}; repeat those, or choose another folder`);
  if (before?.outcome) return before.outcome;
  const write = (value: z.infer<typeof record>): Promise<void> =>
    writeAtomically(file, Buffer.from(`${JSON.stringify(value, undefined, 1)}\n`));
  await write({ config });
  const { step, seconds, stopped, metrics } = await train({ config, folder, device, data, textures, threads }, { name, stop, progress });
  const ended = { step, seconds, stopped, metrics };
  if (!stopped) await write({ config, outcome: ended });
  return ended;
}

async function readRecord(file: string): Promise<z.infer<typeof record> | undefined> {
  if (!existsSync(file)) return undefined;
  try {
    return record.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    throw new DualFocusError("bad-file", `${file}: does not describe a training run; remove its folder to train it again`, { cause });
  }
}

async function checkpointConfig(folder: string): Promise<TrainConfig | undefined> {
  const { checkpoint } = runFiles(folder);
  return existsSync(checkpoint) ? (await readCheckpoint(checkpoint)).config : undefined;
}
