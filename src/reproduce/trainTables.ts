import { join } from "node:path";

import { UserError } from "../system/userError.ts";
import { presets } from "../train/presets.ts";
import type { EvaluationEntry } from "./evaluation.ts";
import type { Made } from "./makeTables.ts";
import { measureCommandLine, measureRun, type Measuring } from "./measureRun.ts";
import type { PaperRow, PaperTable } from "./paperTable.ts";
import type { ReproducedRow, ReproducedTable } from "./report.ts";
import { publishedFigures, renderedFigures } from "./trainedFigures.ts";
import { isPublished, trainCommandLine, trainOnce, trainRun, type Outcome, type TrainRun, type TrainSettings } from "./trainRun.ts";
import { variantName, type Variant } from "./variant.ts";
import { writeTable } from "./writeTable.ts";

/** What is trained. */
export interface RunPlan {
  readonly tables: readonly PaperTable[];
  readonly settings: TrainSettings;
  /** Each variant is trained once with each. */
  readonly seeds: readonly number[];
  /** Variants to train, by name; the others' rows stay empty. */
  readonly only: readonly string[] | undefined;
  /** Runs go to `folder/variants`, tables to `folder`. */
  readonly folder: string;
}

export interface TrainTablesRequest extends RunPlan, Measuring {
  /** Trainings at a time. */
  readonly jobs: number;
  readonly progress: (line: string) => void;
}

/** Trains what the tables need, each variant once, and writes the tables after each; a run that fails leaves the others going. */
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
        const outcome = await trainOnce(run, settings, request);
        if (outcome.stopped) continue;
        outcomes.set(run.name, isPublished(settings) ? await measureRun(run, settings, request) : outcome);
        progress(`${run.name} is done: ${outcomes.size} of ${runs.length}`);
        await (writing = writing.then(() => writeTables(request, outcomes)));
      } catch (error) {
        failures.push(error);
        progress(`${run.name} failed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  if (stop.aborted)
    throw new UserError(`stopped with ${outcomes.size} of ${runs.length} trainings done`, {
      exitCode: 130,
      remedy: "the same command goes on from there",
    });
  return { tables: await writeTables(request, outcomes), failures };
}

/** What rows are filled from, by the run: training's own figures, on a published set those of its protocol. */
type Outcomes = Map<string, Outcome | EvaluationEntry>;

/** A training on a published set says nothing about the rows of another. */
const isMeasured = ({ set }: PaperRow, settings: TrainSettings): boolean =>
  set === undefined || set === settings.preset || !isPublished(settings);

/** Every training that the tables need, without repetition. */
export function planRuns({ tables, settings, seeds, only, folder }: RunPlan): TrainRun[] {
  const variants = new Map<string, Variant>();
  for (const { recipe } of tables.flatMap(({ rows }) => rows.filter((row) => isMeasured(row, settings))))
    if (recipe?.kind === "train") variants.set(variantName(recipe.variant), recipe.variant);
  const unknown = only?.find((name) => !variants.has(name));
  if (unknown !== undefined)
    throw new UserError(`--only ${unknown}: there is no such variant`, {
      exitCode: 2,
      remedy: `there are ${[...variants.keys()].join(", ")}`,
    });
  const wanted = [...variants].filter(([name]) => only === undefined || only.includes(name));
  return seeds.flatMap((seed) => wanted.map(([, variant]) => trainRun(variant, { seed, folder: join(folder, "variants") })));
}

async function writeTables(request: TrainTablesRequest, outcomes: Outcomes): Promise<readonly ReproducedTable[]> {
  const made = request.tables.map((table) => reproducedTable(table, request, outcomes));
  for (const table of made) await writeTable(table, request.folder);
  return made;
}

function reproducedTable(table: PaperTable, request: TrainTablesRequest, outcomes: Outcomes): ReproducedTable {
  const { settings, seeds, limit, folder } = request;
  const rows = table.rows.map((row): ReproducedRow => {
    const { label, paper, recipe, set } = row;
    if (recipe?.kind !== "train") return { label, paper, needs: "a method this project does not have" };
    if (set !== undefined && !isMeasured(row, settings)) return { label, paper, needs: `its own training: --preset ${set} --data DIR` };
    const runs = seeds.map((seed) => trainRun(recipe.variant, { seed, folder: join(folder, "variants") }));
    const found = runs.flatMap((run) => outcomes.get(run.name) ?? []);
    const commands = runs.flatMap((run) => [
      trainCommandLine(run, settings),
      ...(isPublished(settings) ? [measureCommandLine(run, settings, limit)] : []),
    ]);
    const command = commands.join("\n");
    if (found.length === 0) return { label, paper, command, needs: isPublished(settings) ? "its training and evaluation" : "its training" };
    return { label, paper, command, ours: isPublished(settings) ? publishedFigures(table, found) : renderedFigures(found, recipe) };
  });
  const measured = `${describeData(settings, [...outcomes.values()][0])}; seed ${seeds.join(", ")}`;
  return { name: table.name, number: table.number, title: table.title, on: table.on, measured, rows };
}

function describeData({ preset, steps }: TrainSettings, measured: Outcome | EvaluationEntry | undefined): string {
  const trained = steps === undefined ? "trained as in the paper" : `${steps} steps each`;
  if (presets[preset].data.kind === "render") return `rendered scenes (${preset}), held-out textures, ${trained}`;
  return [preset, trained, ...(measured && "split" in measured ? [`split "${measured.split}", ${measured.images} images`] : [])].join(", ");
}
