import { Argument, Command, InvalidArgumentError, Option } from "commander";

import { UserError } from "../job/errors.ts";
import { configs, type DualFocusConfig } from "../model/config.ts";
import { presets } from "../train/presets.ts";
import { formatTable } from "../reproduce/report.ts";
import { trainedTables } from "../reproduce/trainedTables.ts";
import { trainInChild } from "../reproduce/trainChild.ts";
import type { TrainSettings } from "../reproduce/trainRun.ts";
import { trainTables } from "../reproduce/trainTables.ts";

interface ReproduceOptions {
  readonly preset: "render" | "smoke";
  readonly model?: "base" | "small";
  readonly steps: number;
  readonly seeds: readonly number[];
  readonly crop?: number;
  readonly pool?: number;
  readonly batch?: number;
  readonly set: readonly string[];
  readonly only?: readonly string[];
  readonly textures?: string;
  readonly device: string;
  readonly threads?: number;
  readonly jobs: number;
  readonly output?: string;
  readonly json: boolean;
  readonly quiet: boolean;
}

type TrainedName = keyof typeof trainedTables;

export function reproduceCommand(): Command {
  return new Command("reproduce")
    .description("Reproduce tables of the paper, its figures beside ours.")
    .addArgument(new Argument("<tables...>", "which tables").choices(Object.keys(trainedTables)))
    .addOption(
      new Option("--preset <name>", "recipe of the trainings; smoke is for trying out").choices(["render", "smoke"]).default("render"),
    )
    .addOption(new Option("--model <name>", "network whose parts are changed (default: small)").choices(["base", "small"]))
    .option("--steps <count>", "of each training", count, 4000)
    .option("--seeds <list>", "train each variant once with each, as 0 or 0,1,2", seedList, [0])
    .option("--crop <pixels>", "side of the training crops (default: 160)", count)
    .option("--pool <stacks>", "rendered stacks held at a time (default: 4000)", count)
    .option("--batch <stacks>", "stacks per step", count)
    .option("--set <name=value>", "change any setting of the trainings, as in dualfocus train (repeatable)", collect, [])
    .option("--only <list>", "train these variants alone, by the names of their folders", nameList)
    .option("--textures <path>", "pictures to texture rendered scenes with (a folder, or raw pixels in a .bin)")
    .option("--device <device>", "cpu, cuda or cuda:N", "cpu")
    .option("--threads <count>", "CPU threads of each training", count)
    .option("--jobs <count>", "trainings at a time", count, 1)
    .option("-o, --output <dir>", "folder of the trainings and tables; the same one goes on where it was left")
    .option("--json", "print one JSON document", false)
    .option("--quiet", "no progress", false)
    .action(runReproduce);
}

async function runReproduce(names: readonly TrainedName[], options: ReproduceOptions): Promise<void> {
  const { output: folder, seeds, only, jobs, json, quiet } = options;
  if (folder === undefined)
    throw new UserError("where should the trainings go?", { exitCode: 2, remedy: "add -o DIR; the same one goes on where it was left" });
  const progress = (line: string): void => {
    if (!quiet) process.stderr.write(`${line}\n`);
  };
  const stop = new AbortController();
  const interrupt = (): void => {
    stop.abort();
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    const tables = [...new Set(names)].map((name) => trainedTables[name]);
    const train = trainInChild({ program: [process.argv[1] ?? ""], progress });
    const request = { tables, settings: trainSettings(options), seeds, only, folder, jobs, train, stop: stop.signal, progress };
    const made = await trainTables(request);
    process.stdout.write(json ? `${JSON.stringify({ tables: made })}\n` : made.map(formatTable).join("\n"));
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

/** Short runs, so that all variants fit into an hour of one GPU; equal for all. */
function trainSettings(options: ReproduceOptions): TrainSettings {
  const { preset, model, steps, crop, pool, batch, set, device, textures, threads } = options;
  const render = preset === "render";
  const settings = [
    ...(render ? [`batch.crop=${crop ?? 160}`, `data.pool=${pool ?? 4000}`] : ["data.planes=10"]), // smoke renders four planes otherwise
    ...(!render && crop !== undefined ? [`batch.crop=${crop}`] : []),
    ...(!render && pool !== undefined ? [`data.pool=${pool}`] : []),
    ...(batch === undefined ? [] : [`batch.size=${batch}`]),
    `logEvery=${Math.ceil(steps / 10)}`,
    `evaluateEvery=${Math.ceil(steps / 4)}`,
    "saveEveryMinutes=0.5",
    ...set,
  ];
  const network: DualFocusConfig = model === undefined && !render ? presets.smoke.model : configs[model ?? "small"];
  return { preset, model: network, steps, device, textures, threads, settings };
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("a whole number, 1 or more");
  return value;
}

function seedList(text: string): readonly number[] {
  const seeds = text.split(",").map(Number);
  if (!seeds.every((seed) => Number.isInteger(seed) && seed >= 0)) throw new InvalidArgumentError("whole numbers, 0 or more, as 0,1,2");
  return [...new Set(seeds)];
}

const nameList = (text: string): readonly string[] => text.split(",").map((name) => name.trim());
