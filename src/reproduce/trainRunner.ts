import { join } from "node:path";

import { ConfigError } from "../train/config.ts";
import type { EvaluationRequest } from "../evaluate/evaluateModels.ts";
import type { Evaluation } from "../evaluate/run.ts";
import { presets } from "../train/presets.ts";
import { runFiles } from "../train/run.ts";
import { evaluateCommand } from "./evaluateRunner.ts";
import type { Made } from "./makeTables.ts";
import { publishedFigures, renderedFigures, type Measured } from "./ourFigures.ts";
import type { PaperRow, PaperTable, TrainRecipe } from "./paperTable.ts";
import { fillRows, writeTable, type ReproducedTable } from "./report.ts";
import type { JobContext } from "./jobs.ts";
import type { Runner } from "./processes.ts";
import { isPublished, runName, trainingRun, trainOnce, type Outcome, type TrainingRun, type TrainSettings } from "./trainingRun.ts";

/** What is trained. */
export interface RunPlan {
  readonly tables: readonly PaperTable[];
  readonly settings: TrainSettings;
  /** Each variant is trained once with each. */
  readonly seeds: readonly number[];
  /** Runs to train, by name; the others' rows stay empty. */
  readonly only: readonly string[] | undefined;
  /** Runs go to `folder/variants`, tables to `folder`. */
  readonly folder: string;
}

export interface TrainTablesRequest extends RunPlan, JobContext {
  /** Images to measure on, spread over the set; all if left out. */
  readonly limit: number | undefined;
  /** Training runs at a time. */
  readonly jobs: number;
  readonly run: Pick<Runner, "train" | "evaluate">;
}

/** Measured by the protocol of a published set. */
type Evaluated = Measured & Pick<Evaluation, "split" | "images">;

/** What rows are filled from, by the run: training's own figures, on a published set those of its protocol. */
type Outcomes = Map<string, Outcome | Evaluated>;

/** Trains what the tables need, each network once, and writes the tables after each; the other runs continue when one fails. */
export async function trainTables(request: TrainTablesRequest): Promise<Made> {
  const { settings, jobs, stop, progress } = request;
  const runs = planRuns(request);
  const outcomes: Outcomes = new Map();
  const failures: unknown[] = [];
  const waiting = [...runs];
  let writing: Promise<unknown> = Promise.resolve(); // one after another: they are the same files
  const work = async (): Promise<void> => {
    for (let run = waiting.shift(); run !== undefined && !stop.aborted; run = waiting.shift()) {
      try {
        const outcome = await trainOnce(run, request);
        if (outcome.stopped) continue;
        outcomes.set(run.name, isPublished(settings) ? await measureRun(run, request) : outcome);
        progress(`${run.name} is done: ${outcomes.size} of ${runs.length}`);
        await (writing = writing.then(() => writeTables(request, outcomes)));
      } catch (error) {
        failures.push(error);
        progress(`${run.name} failed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  if (stop.aborted) progress(`${outcomes.size} of ${runs.length} training runs are done`);
  stop.throwIfAborted();
  return { tables: await writeTables(request, outcomes), failures };
}

/** A run on a published set says nothing about the rows of another. */
const isMeasured = ({ set }: PaperRow, settings: TrainSettings): boolean =>
  set === undefined || set === presets[settings.preset].data.kind || !isPublished(settings);

const runsOf = (recipe: TrainRecipe, { seeds, folder, settings }: RunPlan): TrainingRun[] =>
  seeds.map((seed) => trainingRun(recipe, { seed, folder: join(folder, "variants"), settings }));

/** Every training run that the tables need, without repetition. */
export function planRuns(plan: RunPlan): TrainingRun[] {
  const { tables, settings, seeds, only } = plan;
  const rows = tables.flatMap((table) => table.rows.filter((row) => isMeasured(row, settings)));
  const recipes = new Map<string, TrainRecipe>();
  for (const { recipe } of rows) if (recipe?.kind === "train") recipes.set(runName(recipe), recipe);
  const unknown = only?.find((name) => !recipes.has(name));
  if (unknown !== undefined) throw new ConfigError(`there is no variant "${unknown}"; there are ${[...recipes.keys()].join(", ")}`);
  const wanted = [...recipes].filter(([name]) => only === undefined || only.includes(name));
  return seeds.flatMap((seed) => wanted.flatMap(([, recipe]) => runsOf(recipe, { ...plan, seeds: [seed] })));
}

/**
 * Measures what a run has trained by the protocol of its set: errors of each image, then their mean. Training's own figures are over all
 * pixels together, in the scaled unit of its losses. Results of single images are kept in the run's folder.
 */
async function measureRun({ name, ...trained }: TrainingRun, request: TrainTablesRequest): Promise<Evaluated> {
  const { stop, progress, run } = request;
  const [found] = await run.evaluate(measurement(trained, request), { name, stop, progress });
  if (!found) throw new Error(`${name}: nothing was measured`);
  return { ...found, metrics: { ...found.metrics } };
}

function measurement({ folder, planes }: Omit<TrainingRun, "name">, { settings, limit }: TrainTablesRequest): EvaluationRequest {
  const { preset, data, threads = 0 } = settings;
  const device = settings.device === "cuda" ? "cuda" : "cpu"; // `evaluate` takes no other GPU than the first
  const dataset = presets[preset].data.kind;
  return { dataset, data, models: [runFiles(folder).weights], planes: [planes], device, threads, limit, resumeDir: folder };
}

async function writeTables(request: TrainTablesRequest, outcomes: Outcomes): Promise<readonly ReproducedTable[]> {
  const made = request.tables.map((table) => reproducedTable(table, request, outcomes));
  for (const table of made) await writeTable(table, request.folder);
  return made;
}

function reproducedTable(table: PaperTable, request: TrainTablesRequest, outcomes: Outcomes): ReproducedTable {
  const { settings, seeds } = request;
  const published = isPublished(settings);
  const rows = fillRows(table, "train", (recipe, row) => {
    if (!isMeasured(row, settings)) return { needs: `its own training run: --preset ${row.set ?? ""} --data DIR` };
    const runs = runsOf(recipe, request);
    const found = runs.flatMap((run) => outcomes.get(run.name) ?? []);
    const measuring = (run: TrainingRun): string[] => (published ? [evaluateCommand(measurement(run, request))] : []);
    const command = runs.flatMap((run) => [run.command, ...measuring(run)]).join("\n");
    if (found.length === 0) return { command, needs: published ? "its training run and evaluation" : "its training run" };
    return { command, ours: published ? publishedFigures(table, found) : renderedFigures(found, recipe) };
  });
  return { ...table, measured: `${describeData(settings, [...outcomes.values()][0])}; seed ${seeds.join(", ")}`, rows };
}

function describeData({ preset, steps }: TrainSettings, measured: Outcome | Evaluated | undefined): string {
  const trained = steps === undefined ? "trained as the recipe says" : `${steps} steps each`;
  if (presets[preset].data.kind === "render") return `rendered scenes (${preset}), held-out textures, ${trained}`;
  return [preset, trained, ...(measured && "split" in measured ? [`split "${measured.split}", ${measured.images} images`] : [])].join(", ");
}
