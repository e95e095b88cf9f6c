import { presets } from "../train/presets.ts";
import { runFiles } from "../train/run.ts";
import type { RunCommand } from "./child.ts";
import { readEvaluations, type EvaluationEntry } from "./evaluation.ts";
import { commandLine, type TrainRun, type TrainSettings } from "./trainRun.ts";

export interface Measuring {
  /** So many images, spread over the set; all if left out. */
  readonly limit: number | undefined;
  readonly run: RunCommand;
  readonly stop: AbortSignal;
}

/**
 * Measures what a run has trained by the protocol of its set: errors of each image, then their mean. Training's own figures are over all
 * pixels together, in the scaled unit of its losses. Results of single images are kept in the run's folder.
 */
export async function measureRun(
  run: TrainRun,
  settings: TrainSettings,
  { limit, run: runCommand, stop }: Measuring,
): Promise<EvaluationEntry> {
  const [found] = readEvaluations(await runCommand(measureArguments(run, settings, limit), { name: run.name, stop }));
  if (!found) throw new Error(`${run.name}: nothing was measured`);
  return found;
}

export const measureCommandLine = (run: TrainRun, settings: TrainSettings, limit: number | undefined): string =>
  commandLine(measureArguments(run, settings, limit));

function measureArguments(run: TrainRun, settings: TrainSettings, limit: number | undefined): string[] {
  const { preset, data, threads } = settings;
  const [planes] = run.variant.planes;
  const device = settings.device === "cuda" ? "cuda" : "cpu"; // `evaluate` takes no other GPU than the first
  const given = { dataset: presets[preset].data.kind, data, model: runFiles(run.folder).weights, planes, device, threads, limit };
  const optional = Object.entries({ ...given, "resume-dir": run.folder });
  return ["evaluate", ...optional.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, `${value}`])), "--json"];
}
