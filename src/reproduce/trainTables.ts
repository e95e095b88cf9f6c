import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { UserError } from "../job/errors.ts";
import { writeAtomically } from "../train/atomicFile.ts";
import { presets } from "../train/presets.ts";
import type { Figures, PaperTable } from "./paperTable.ts";
import type { RunCommand } from "./child.ts";
import { formatTable, type ReproducedRow, type ReproducedTable } from "./report.ts";
import { trainCommandLine, trainOnce, trainRun, type Outcome, type TrainRun, type TrainSettings } from "./trainRun.ts";
import { variantName, type Variant } from "./variant.ts";

export interface TrainTablesRequest {
  readonly tables: readonly PaperTable[];
  readonly settings: TrainSettings;
  /** Each variant is trained once with each. */
  readonly seeds: readonly number[];
  /** Variants to train, by name; the others' rows stay empty. */
  readonly only: readonly string[] | undefined;
  /** Runs go to `folder/variants`, tables to `folder`. */
  readonly folder: string;
  /** Trainings at a time. */
  readonly jobs: number;
  readonly run: RunCommand;
  readonly stop: AbortSignal;
  readonly progress: (line: string) => void;
}

/** Trains what the tables need, each variant once, and writes the tables after each; a run that fails leaves the others going. */
export async function trainTables(request: TrainTablesRequest): Promise<readonly ReproducedTable[]> {
  const { settings, folder, jobs, run: runCommand, stop, progress } = request;
  const runs = planRuns(request);
  await mkdir(folder, { recursive: true });
  const outcomes = new Map<string, Outcome>();
  const failures: unknown[] = [];
  const waiting = [...runs];
  let writing: Promise<unknown> = Promise.resolve(); // one after another: they are the same files
  const work = async (): Promise<void> => {
    for (let run = waiting.shift(); run !== undefined && !stop.aborted; run = waiting.shift()) {
      try {
        const outcome = await trainOnce(run, settings, { run: runCommand, stop });
        if (outcome.stopped) continue;
        outcomes.set(run.name, outcome);
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
  if (failures.length > 0) throw failures[0];
  return writeTables(request, outcomes);
}

/** Every training that the tables need, without repetition. */
export function planRuns({ tables, seeds, only, folder }: Pick<TrainTablesRequest, "tables" | "seeds" | "only" | "folder">): TrainRun[] {
  const variants = new Map<string, Variant>();
  for (const { recipe } of tables.flatMap(({ rows }) => rows))
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

async function writeTables(request: TrainTablesRequest, outcomes: ReadonlyMap<string, Outcome>): Promise<readonly ReproducedTable[]> {
  const made = request.tables.map((table) => reproducedTable(table, request, outcomes));
  for (const table of made) {
    await writeAtomically(join(request.folder, `${table.name}.rows.json`), Buffer.from(`${JSON.stringify(table, undefined, 1)}\n`));
    await writeAtomically(join(request.folder, `${table.name}.md`), Buffer.from(formatTable(table)));
  }
  return made;
}

function reproducedTable(table: PaperTable, request: TrainTablesRequest, outcomes: ReadonlyMap<string, Outcome>): ReproducedTable {
  const rows = table.rows.map(({ label, paper, recipe }): ReproducedRow => {
    if (recipe?.kind !== "train") return { label, paper, needs: "a method this project does not have" };
    const runs = request.seeds.map((seed) => trainRun(recipe.variant, { seed, folder: join(request.folder, "variants") }));
    const found = runs.flatMap((run) => outcomes.get(run.name) ?? []);
    const command = runs.map((run) => trainCommandLine(run, request.settings)).join("\n");
    if (found.length === 0) return { label, paper, command, needs: "its training" };
    return { label, paper, command, ours: trainedFigures(found, recipe) };
  });
  const measured = `${describeData(request.settings)}; seed ${request.seeds.join(", ")}`;
  return { name: table.name, number: table.number, title: table.title, on: table.on, measured, rows };
}

function describeData({ preset, steps }: TrainSettings): string {
  const trained = steps === undefined ? "trained as in the paper" : `${steps} steps each`;
  return presets[preset].data.kind === "render" ? `rendered scenes (${preset}), held-out textures, ${trained}` : `${preset}, ${trained}`;
}

/**
 * Means over the seeds. Rendered scenes are measured in planes with every number of planes trained with; files in their own unit with
 * the first. A plane is a share 1 / (N − 1) of the stack's range, so errors of different N compare by that.
 */
function trainedFigures(outcomes: readonly Outcome[], { variant, planes }: { variant: Variant; planes: number }): Figures {
  const mean = (name: string): number => outcomes.reduce((sum, { metrics }) => sum + (metrics[name] ?? NaN), 0) / outcomes.length;
  const spread = (name: string): [string, number][] => {
    const values = outcomes.map(({ metrics }) => metrics[name] ?? NaN);
    return values.length > 1 ? [["RMSE spread over seeds", Math.max(...values) - Math.min(...values)]] : [];
  };
  if (outcomes.some(({ metrics }) => "rmse" in metrics))
    return Object.fromEntries([["RMSE", mean("rmse")], ["invalid trend %", 100 * mean("invalidTrend")], ...spread("rmse")]);
  const several = variant.planes.length > 1;
  const at = (title: string, N: number): string => (several ? `${title}, N=${N}` : title);
  const figures = variant.planes.flatMap((N): [string, number][] => [
    [at("RMSE planes", N), mean(`rmse@${N}`)],
    ...(several ? [] : [["RMSE % of range", (100 * mean(`rmse@${N}`)) / (N - 1)] as [string, number]]),
    [at("within ¼ plane %", N), 100 * mean(`within@${N}`)],
    [at("invalid trend %", N), 100 * mean(`invalidTrend@${N}`)],
  ]);
  return Object.fromEntries([...figures, ...spread(`rmse@${planes}`)]);
}
