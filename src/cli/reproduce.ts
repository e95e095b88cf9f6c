import { Argument, Command, InvalidArgumentError, Option } from "commander";

import { UserError } from "../system/userError.ts";
import { isConfigName, shippedModel } from "../network/node/loadModel.ts";
import { configs, type ConfigName } from "../model/config.ts";
import { evaluateTable } from "../reproduce/evaluateRunner.ts";
import { makeTables, type Made } from "../reproduce/makeTables.ts";
import { evaluatedTables, paperTables, trainedTables, type TableName } from "../reproduce/paperFigures.ts";
import type { PaperTable } from "../reproduce/paperTable.ts";
import { formatTable, writeTable, type ReproducedTable } from "../reproduce/report.ts";
import { timeTable } from "../reproduce/timeRunner.ts";
import type { JobContext } from "../reproduce/jobs.ts";
import { inProcesses, type Runner } from "../reproduce/processes.ts";
import { isPublished, type TrainSettings } from "../reproduce/trainingRun.ts";
import { planRuns, trainTables } from "../reproduce/trainRunner.ts";
import { presets, type PresetName } from "../train/presets.ts";
import { collect, listOf, parser, wholeNumber } from "./arguments.ts";
import { stoppable } from "./stop.ts";
import { asUserError } from "./words.ts";

interface ReproduceOptions {
  readonly preset: PresetName;
  readonly model?: "base" | "small";
  readonly steps?: number;
  readonly seeds: readonly number[];
  readonly crop?: number;
  readonly pool?: number;
  readonly batchSize?: number;
  readonly set: readonly string[];
  readonly only?: readonly string[];
  readonly data: DataFolders;
  readonly weights: Partial<Record<ConfigName, string>>;
  readonly limit?: number;
  readonly textures?: string;
  readonly device: string;
  readonly threads?: number;
  readonly jobs: number;
  readonly output?: string;
  readonly json: boolean;
  readonly quiet: boolean;
}

const isTrained = (name: string): name is keyof typeof trainedTables => name in trainedTables;

export function reproduceCommand(): Command {
  return new Command("reproduce")
    .addArgument(new Argument("[tables...]", "tables of the paper").choices(Object.keys(paperTables)))
    .option(
      "--data <dir>",
      "folder of the dataset (docs/datasets.md); NAME=DIR where the tables need several datasets (repeatable)",
      dataOption,
      {},
    )
    .option("--weights <name=file>", "measure these weights instead of the shipped ones (repeatable)", weightsOption, {})
    .option("--limit <count>", "number of images to measure, spread evenly over the dataset", wholeNumber(1))
    .addOption(
      new Option("--preset <name>", "recipe of the training runs")
        .choices(["render", "smoke", "nyu", "nyuTuned", "fod500", "ddff12"])
        .default("render"),
    )
    .addOption(
      new Option("--model <name>", "network whose parts are changed (default: small, and base on a published dataset)").choices([
        "base",
        "small",
      ]),
    )
    .option(
      "--steps <count>",
      "number of training steps of each run (default: 4000, and the recipe's own on a published dataset)",
      wholeNumber(1),
    )
    .option("--seeds <list>", "random seeds, as 0 or 0,1,2; each variant is trained once per seed", seedList, [0])
    .option("--crop <pixels>", "side of the training crops (default: 160 on rendered scenes)", wholeNumber(1))
    .option("--pool <stacks>", "rendered stacks held in memory (default: 4000)", wholeNumber(1))
    .option("--batch-size <stacks>", "stacks per step", wholeNumber(1))
    .option("--set <name=value>", "change any setting of the training runs, as in dualfocus train (repeatable)", collect, [])
    .option("--only <list>", "train only these variants, by the names of their folders", nameList)
    .option("--textures <path>", "images as textures of rendered scenes (a folder, or raw pixels in a .bin)")
    .option("--device <device>", "device of the training runs and timings: cpu, cuda or cuda:N", "cpu")
    .option("--threads <count>", "CPU threads of each process", wholeNumber(1))
    .option("--jobs <count>", "training runs at the same time", wholeNumber(1), 1)
    .option("-o, --output <dir>", "folder of the training runs, tables and kept results; with the same one an interrupted run continues")
    .option("--json", "print one JSON document", false)
    .option("--quiet", "no progress", false)
    .action(runReproduce);
}

async function runReproduce(names: readonly TableName[], options: ReproduceOptions): Promise<void> {
  if (names.length === 0) {
    process.stdout.write(options.json ? `${JSON.stringify({ tables: Object.values(paperTables) })}\n` : listTables());
    return;
  }
  const progress = (line: string): void => {
    if (!options.quiet) process.stderr.write(`${line}\n`);
  };
  await stoppable(
    async (stop) => {
      const steps = planSteps([...new Set(names)], options, { run: inProcesses(), stop, progress });
      const { tables: made, failures } = await makeTables(steps, { stop, onTable: printTable(options) });
      if (options.json) process.stdout.write(`${JSON.stringify({ tables: made, failures: failures.map(describeFailure) })}\n`);
      throwFailures(failures);
    },
    { remedy: "the same command continues where it was stopped" },
  );
}

/** A single failure as it is; several as one, which the user can act on only if they can on each. */
export function throwFailures(failures: readonly unknown[]): void {
  if (failures.length === 0) return;
  if (failures.length === 1) throw failures[0];
  const message = `${failures.length} runs failed\n${failures.map((failure) => `- ${describeFailure(failure)}`).join("\n")}`;
  const known = failures.map(asUserError);
  throw known[0] && known.every((each) => each !== undefined)
    ? new UserError(message, { exitCode: known[0].exitCode })
    : new Error(message);
}

export function describeFailure(failure: unknown): string {
  const { message, remedy } = asUserError(failure) ?? { message: failure instanceof Error ? failure.message : String(failure) };
  return remedy === undefined ? message : `${message}\n  ${remedy}`;
}

interface Means extends JobContext {
  readonly run: Runner;
}

/** Prints each table as soon as it is complete; a JSON document is printed at the end. */
function printTable({ json, output }: ReproduceOptions): (table: ReproducedTable) => Promise<void> {
  let before = "";
  return async (table) => {
    if (output !== undefined) await writeTable(table, output);
    if (!json) process.stdout.write(`${before}${formatTable(table)}`);
    before = "\n";
  };
}

/** Training runs first. Wrong usage is refused here, before anything runs. */
function planSteps(names: readonly TableName[], options: ReproduceOptions, means: Means): (() => Promise<Made>)[] {
  const { output: folder, threads, limit, weights, device } = options;
  const isShipped = (model: ConfigName): boolean => shippedModel(model) !== undefined;
  const trained = names.filter(isTrained);
  const others = names.filter((name) => !isTrained(name));
  const single = (made: Promise<ReproducedTable>): Promise<Made> => made.then((table) => ({ tables: [table], failures: [] }));
  return [
    ...(trained.length > 0 ? [planTraining(trained, options, means)] : []),
    ...others.map((name) => () => {
      if (name === "runtime") return single(timeTable(paperTables.runtime, { device, threads, ...means }));
      const data = folderOf(name, options.data);
      return single(evaluateTable(name, { data, weights, isShipped, limit, threads, folder, ...means }));
    }),
  ];
}

function planTraining(names: readonly (keyof typeof trainedTables)[], options: ReproduceOptions, means: Means): () => Promise<Made> {
  const { output: folder, seeds, only, jobs, limit } = options;
  if (folder === undefined)
    throw new UserError("missing -o DIR, the folder of the training runs", {
      exitCode: 2,
      remedy: "with the same one an interrupted run continues",
    });
  const settings = trainSettings(options);
  if (isPublished(settings) && settings.data === undefined)
    throw new UserError(`--preset ${options.preset} trains on files`, {
      exitCode: 2,
      remedy: "give their folder with --data DIR (docs/datasets.md)",
    });
  const plan = { tables: names.map((name) => trainedTables[name]), settings, seeds, only, folder };
  planRuns(plan);
  return () => trainTables({ ...plan, jobs, limit, ...means });
}

/** Rendered: short runs, so that all variants fit into minutes of one GPU. On a published set: as the recipe says. Equal for all. */
function trainSettings(options: ReproduceOptions): TrainSettings {
  const { preset, model, crop, pool, batchSize, set, device, textures, threads } = options;
  const { kind } = presets[preset].data;
  const steps = options.steps ?? (kind === "render" ? 4000 : undefined);
  const settings = [
    ...(preset === "smoke" ? ["data.planes=10"] : []), // instead of its four
    ...setting("batch.crop", crop ?? (preset === "render" ? 160 : undefined)),
    ...setting("data.pool", pool ?? (preset === "render" ? 4000 : undefined)),
    ...setting("batch.size", batchSize),
    ...(steps === undefined ? [] : [`logEvery=${Math.ceil(steps / 10)}`, `evaluateEvery=${Math.ceil(steps / 4)}`, "saveEveryMinutes=0.5"]),
    ...set,
  ];
  const network = model ?? (preset === "smoke" ? undefined : kind === "render" ? "small" : "base");
  const data = kind === "render" ? undefined : folderOf(kind, options.data);
  return { preset, model: network, steps, device, data, textures, threads, settings };
}

const setting = (name: string, value: number | undefined): readonly string[] => (value === undefined ? [] : [`${name}=${value}`]);

function listTables(): string {
  const takes = (table: PaperTable): string => {
    if (table === paperTables.runtime) return "runs here";
    if (!isTrained(table.name)) return `needs: ${table.on} (--data DIR)`;
    return `trains here on rendered scenes (-o DIR); on ${table.on}: --preset ${table.on.startsWith("NYU") ? "nyu" : "ddff12"} --data DIR`;
  };
  const rows = Object.values<PaperTable>(paperTables).sort((a, b) => a.number - b.number);
  return rows
    .map((table) => `${table.name.padEnd(9)} Table ${String(table.number).padEnd(2)}  ${table.title}\n${" ".repeat(20)}${takes(table)}\n`)
    .join("");
}

const seedList = (text: string): readonly number[] => [...new Set(listOf(wholeNumber(0))(text))];

function weightsOption(text: string, before: ReproduceOptions["weights"]): ReproduceOptions["weights"] {
  const [, name = "", file = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (!isConfigName(name)) throw new InvalidArgumentError(`NAME=FILE, with NAME one of ${Object.keys(configs).join(", ")}`);
  return { ...before, [name]: file };
}

/** Folders of the datasets; `any` for each that is not named. */
type DataFolders = Partial<Record<keyof typeof evaluatedTables | "any", string>>;

const folderOf = (name: string, { any, ...named }: DataFolders): string | undefined => (named as Record<string, string>)[name] ?? any;

function dataOption(text: string, before: DataFolders): DataFolders {
  const [, name = "any", folder = ""] = /^(\w+)=(.*)$/.exec(text) ?? ["", "any", text];
  if (folder === "" || !(name === "any" || name in evaluatedTables))
    throw new InvalidArgumentError(`DIR or NAME=DIR, with NAME one of ${Object.keys(evaluatedTables).join(", ")}`);
  if (name in before) throw new InvalidArgumentError("One folder for each dataset: name them as nyu=DIR.");
  return { ...before, [name]: folder };
}

const nameList = listOf(parser("names separated by commas", (name) => name));
