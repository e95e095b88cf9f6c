import { configs, type ConfigName } from "../model/config.ts";
import type { RunCommand } from "./child.ts";
import { paperFigures, readEvaluations, type EvaluationEntry } from "./evaluation.ts";
import type { EvaluatedModel, PaperTable } from "./paperTable.ts";
import type { ReproducedRow, ReproducedTable } from "./report.ts";

export interface EvaluateTableRequest {
  /** Folder of the set; without it the rows state what they need. */
  readonly data: string | undefined;
  /** Weights to measure, by network; the shipped ones by default. */
  readonly weights: Partial<Record<ConfigName, string>>;
  /** Whether weights of a network ship. */
  readonly isShipped: (name: ConfigName) => boolean;
  readonly limit: number | undefined;
  readonly threads: number | undefined;
  /** Results of single images are kept here. */
  readonly folder: string | undefined;
  readonly run: RunCommand;
  readonly stop: AbortSignal;
}

/** Full names of the sets and splits. */
const SETS: Readonly<Record<string, string>> = {
  nyu: "NYU Depth v2, test split",
  fod500: "FoD500, scenes 400 to 499",
  ddff12: "DDFF 12-Scene, validation split",
  arkit: "ARKitScenes upsampling, validation set",
};

/** The preset that trains the weights of the table's rows; Table 4 tests the networks of NYU Depth v2. */
const presetFor = (table: PaperTable): string => (table.name === "arkit" ? "nyu" : table.name);

/** Measures every row that can be on the table's set, in one pass over its images. */
export async function evaluateTable(table: PaperTable, request: EvaluateTableRequest): Promise<ReproducedTable> {
  const { data, weights, isShipped, run, stop } = request;
  const models = table.rows.flatMap(({ recipe }) => (recipe?.kind === "evaluate" ? [recipe.model] : []));
  const lacking = (model: EvaluatedModel): string | undefined => {
    if (data === undefined) return `${SETS[table.name] ?? table.on}: --data DIR (docs/datasets.md)`;
    if (!isNetwork(model) || weights[model] !== undefined || isShipped(model)) return undefined;
    return `weights: dualfocus train --preset ${presetFor(table)} --model ${model} --data DIR -o RUN, then --weights ${model}=RUN/weights.safetensors`;
  };
  const runnable = models.filter((model) => lacking(model) === undefined);
  const results = runnable.length === 0 ? [] : readEvaluations(await run(args(table, runnable, request), { name: table.name, stop }));
  const rows = table.rows.map(({ label, paper, recipe }): ReproducedRow => {
    if (recipe?.kind !== "evaluate") return { label, paper, needs: "a method this project does not have" };
    const command = `dualfocus ${args(table, [recipe.model], request).join(" ")}`;
    const needs = lacking(recipe.model);
    if (needs !== undefined) return { label, paper, command, needs };
    const found = results.find(({ model }) => model === fileOf(recipe.model, weights));
    const ours = found && paperFigures(table, found.metrics);
    return { label, paper, command, ...(ours && { ours }) };
  });
  return { name: table.name, number: table.number, title: table.title, on: table.on, measured: describe(results[0], request), rows };
}

const isNetwork = (model: EvaluatedModel): model is ConfigName => model in configs;
const fileOf = (model: EvaluatedModel, weights: EvaluateTableRequest["weights"]): string => (isNetwork(model) && weights[model]) || model;

function args(
  table: PaperTable,
  models: readonly EvaluatedModel[],
  { data, weights, limit, threads, folder }: EvaluateTableRequest,
): string[] {
  const optional = Object.entries({ data: data ?? "DIR", limit, threads, "resume-dir": folder });
  return [
    ...["evaluate", "--dataset", table.name, "--model", models.map((model) => fileOf(model, weights)).join(","), "--planes", "5", "--json"],
    ...optional.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, `${value}`])),
  ];
}

function describe(result: EvaluationEntry | undefined, { weights }: EvaluateTableRequest): string {
  if (!result) return "nothing yet";
  const given = Object.entries(weights).map(([model, file]) => `${model} from ${file}`);
  const networks = `networks not trained on the set (the shipped weights)${given.length === 0 ? "" : `, but ${given.join(", ")}`}`;
  return `split "${result.split}", ${result.images} images, 5 planes; ${networks}`;
}
