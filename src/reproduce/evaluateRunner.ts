import type { EvaluationRequest } from "../evaluate/evaluateModels.ts";
import type { Evaluation } from "../evaluate/run.ts";
import { configs, type ConfigName } from "../model/config.ts";
import { inPaperColumns } from "./ourFigures.ts";
import { evaluatedTables } from "./paperFigures.ts";
import type { EvaluatedModel, PaperTable } from "./paperTable.ts";
import type { JobContext } from "./jobs.ts";
import type { Runner } from "./processes.ts";
import { commandLine, fillRows, type ReproducedTable } from "./report.ts";

type SetName = keyof typeof evaluatedTables;

export interface EvaluateTableRequest extends JobContext {
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
  readonly run: Pick<Runner, "evaluate">;
}

/** Full names of the sets and splits. */
const SETS: Readonly<Record<SetName, string>> = {
  nyu: "NYU Depth v2, test split",
  fod500: "FoD500, scenes 400 to 499",
  ddff12: "DDFF 12-Scene, validation split",
  arkit: "ARKitScenes upsampling, validation set",
};

const PLANES = 5; // of the paper's tables, but for its Table 10

/** Measures every row that can be on the table's set, in one pass over its images for each number of planes. */
export async function evaluateTable(set: SetName, asked: EvaluateTableRequest): Promise<ReproducedTable> {
  const table: PaperTable = evaluatedTables[set];
  const { data, weights, limit, threads, folder, isShipped, run, stop, progress } = asked;
  const preset = set === "arkit" ? "nyu" : set; // Table 4 tests the networks trained on NYU Depth v2
  const lacking = (model: EvaluatedModel): string | undefined => {
    if (data === undefined) return `${SETS[set]}: --data DIR (docs/datasets.md)`;
    if (!isNetwork(model) || weights[model] !== undefined || isShipped(model)) return undefined;
    return `weights: dualfocus train --preset ${preset} --model ${model} --data DIR -o RUN, then --weights ${model}=RUN/weights.safetensors`;
  };
  const fileOf = (model: EvaluatedModel): string => (isNetwork(model) && weights[model]) || model;
  const recipes = table.rows.flatMap(({ recipe }) =>
    recipe?.kind === "evaluate" && lacking(recipe.model) === undefined ? [{ planes: PLANES, ...recipe }] : [],
  );
  const request = (models: readonly EvaluatedModel[], planes: number): EvaluationRequest => {
    const given = { dataset: set, data, limit, threads: threads ?? 0, resumeDir: folder };
    return { ...given, models: models.map(fileOf), planes: [planes], device: "cpu" };
  };
  const results: { readonly planes: number; readonly result: Evaluation }[] = [];
  for (const planes of new Set(recipes.map((recipe) => recipe.planes))) {
    const models = recipes.filter((recipe) => recipe.planes === planes).map(({ model }) => model);
    const measured = await run.evaluate(request(models, planes), { name: set, stop, progress });
    results.push(...measured.map((result) => ({ planes, result })));
  }
  const rows = fillRows(table, "evaluate", ({ model, planes = PLANES }) => {
    const command = evaluateCommand(request([model], planes));
    const needs = lacking(model);
    if (needs !== undefined) return { command, needs };
    const found = results.find((each) => each.result.model === fileOf(model) && each.planes === planes);
    return { command, ...(found && { ours: inPaperColumns(table, { ...found.result.metrics }) }) };
  });
  return { ...table, measured: describe(results[0]?.result, asked), rows };
}

/** The command that measures the same. */
export function evaluateCommand({ dataset, data = "DIR", models, planes, limit, device, threads, resumeDir }: EvaluationRequest): string {
  const given = { dataset, data, model: models.join(), planes: planes?.join(), limit, device, threads: threads || undefined };
  return commandLine("evaluate", { ...given, "resume-dir": resumeDir });
}

const isNetwork = (model: EvaluatedModel): model is ConfigName => model in configs;

function describe(result: Evaluation | undefined, { weights }: EvaluateTableRequest): string {
  if (!result) return "nothing yet";
  const given = Object.entries(weights).map(([model, file]) => `${model} from ${file}`);
  const networks = `networks not trained on the set (the shipped weights)${given.length === 0 ? "" : `, but ${given.join(", ")}`}`;
  return `split "${result.split}", ${result.images} images, ${PLANES} planes unless a row says otherwise; ${networks}`;
}
