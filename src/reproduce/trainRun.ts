import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

import { UserError } from "../system/userError.ts";
import type { DualFocusConfig } from "../model/config.ts";
import { writeAtomically } from "../system/atomicFile.ts";
import { presets, type PresetName } from "../train/presets.ts";
import { runFiles } from "../train/run.ts";
import type { RunCommand } from "./child.ts";
import { variantName, variantNetwork, variantSettings, type Variant } from "./variant.ts";

/** What all variants of a table have in common. */
export interface TrainSettings {
  readonly preset: PresetName;
  readonly model: DualFocusConfig;
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

/** Whether the trainings read one of the sets the paper measures on. */
export const isPublished = ({ preset }: TrainSettings): boolean => presets[preset].data.kind !== "render";

/** One training: a variant with a seed, in a folder of its own. */
export interface TrainRun {
  readonly name: string;
  readonly variant: Variant;
  readonly seed: number;
  readonly folder: string;
}

const outcome = z.object({
  step: z.number(),
  seconds: z.number(),
  stopped: z.boolean(),
  metrics: z.record(z.string(), z.number()),
});

/** What `dualfocus train --json` prints. */
export type Outcome = z.infer<typeof outcome>;

const record = z.object({ arguments: z.array(z.string()), outcome: outcome.optional() });
type RunRecord = z.infer<typeof record>;

export const trainRun = (variant: Variant, { seed, folder }: { readonly seed: number; readonly folder: string }): TrainRun => {
  const name = seed === 0 ? variantName(variant) : `${variantName(variant)}-seed${seed}`;
  return { name, variant, seed, folder: join(folder, name) };
};

const networkFile = ({ folder }: TrainRun): string => join(folder, "network.json");
const recordFile = ({ folder }: TrainRun): string => join(folder, "run.json");

/** What decides the outcome; a run may go on elsewhere, with other threads or on another device. */
function recipeArguments({ variant, seed }: TrainRun, settings: TrainSettings): string[] {
  const { preset, steps } = settings;
  const planes = isPublished(settings) ? variant.planes.slice(0, 1) : variant.planes; // the paper trains with those it measures
  const sets = [...settings.settings, ...variantSettings({ ...variant, planes })].flatMap((setting) => ["--set", setting]);
  return ["--preset", preset, ...(steps === undefined ? [] : ["--steps", `${steps}`]), "--seed", `${seed}`, ...sets];
}

function placeArguments(run: TrainRun, { device, data, textures, threads }: TrainSettings): string[] {
  const optional = Object.entries({ data, textures, threads }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, `${value}`],
  );
  return ["--device", device, ...optional, "-o", run.folder];
}

/** The command that trains a run from nothing, as a person would type it. */
export function trainCommandLine(run: TrainRun, settings: TrainSettings): string {
  const args = ["train", "--model", networkFile(run), ...recipeArguments(run, settings), ...placeArguments(run, settings)];
  return commandLine(args);
}

/** Arguments of `dualfocus` for a shell. */
export const commandLine = (args: readonly string[]): string =>
  ["dualfocus", ...args.map((arg) => (/^[\w./=@:,-]+$/.test(arg) ? arg : `'${arg}'`))].join(" ");

/** Trains one run, goes on with one that was interrupted, or takes the outcome of one that is finished. */
export async function trainOnce(
  run: TrainRun,
  settings: TrainSettings,
  { run: runCommand, stop }: { readonly run: RunCommand; readonly stop: AbortSignal },
): Promise<Outcome> {
  await mkdir(run.folder, { recursive: true });
  const network = JSON.stringify(variantNetwork(run.variant, settings.model));
  const recipe = recipeArguments(run, settings);
  const before = await readRecord(run);
  if (before && JSON.stringify(before.arguments) !== JSON.stringify([network, ...recipe]))
    throw new UserError(`${run.folder}: was trained with other settings (run.json has them)`, {
      exitCode: 2,
      remedy: "choose another -o, or repeat the settings of before",
    });
  if (before?.outcome) return before.outcome;
  const started = { arguments: [network, ...recipe] };
  await writeAtomically(networkFile(run), Buffer.from(network));
  await writeRecord(run, started);
  const from = existsSync(runFiles(run.folder).checkpoint) ? ["--resume"] : ["--model", networkFile(run), ...recipe];
  const printed = await runCommand(["train", ...from, ...placeArguments(run, settings), "--json"], { name: run.name, stop });
  const ended = outcome.parse(JSON.parse(printed));
  if (!ended.stopped) await writeRecord(run, { ...started, outcome: ended });
  return ended;
}

async function readRecord(run: TrainRun): Promise<RunRecord | undefined> {
  const file = recordFile(run);
  if (!existsSync(file)) return undefined;
  try {
    return record.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    throw new UserError(`${file}: does not describe a training`, { exitCode: 3, remedy: `remove ${run.folder} to train it anew`, cause });
  }
}

const writeRecord = (run: TrainRun, value: RunRecord): Promise<void> =>
  writeAtomically(recordFile(run), Buffer.from(`${JSON.stringify(value, undefined, 1)}\n`));
