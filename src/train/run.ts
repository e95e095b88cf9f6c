import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createTorchEngine, type TorchEngine } from "../engine/torch.ts";
import type { Weights } from "../io/safetensors.ts";
import { averagedWeights, exportWeights, restoreCheckpoint, saveCheckpoint, type Checkpoint } from "./checkpoint.ts";
import { ConfigError, type TrainConfig } from "./config.ts";
import { describeEntry, openLog } from "./log.ts";
import { createClock, train, type LogEntry } from "./loop.ts";
import { openSource, type TrainSource } from "./source.ts";
import { createTrainer, type Trainer } from "./trainer.ts";

export interface TrainRequest {
  readonly config: TrainConfig;
  /** Checkpoint, weights and log go here. */
  readonly folder: string;
  /** "cpu", "cuda" or "cuda:N". */
  readonly device: string;
  readonly threads?: number | undefined;
  /** Where to continue. */
  readonly checkpoint?: Checkpoint | undefined;
  /** Weights to start from, when there is no checkpoint. */
  readonly weights?: Weights | undefined;
  readonly textures?: string | undefined;
  readonly data?: string | undefined;
  /** Ends the run early, saved. */
  readonly stop: AbortSignal;
  /** Lines for people. */
  readonly progress: (line: string) => void;
}

export interface TrainResult {
  readonly step: number;
  readonly seconds: number;
  readonly stopped: boolean;
  /** Of the last evaluation. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly files: Readonly<Record<"checkpoint" | "weights" | "log", string>>;
}

export const runFiles = (folder: string) => ({
  checkpoint: join(folder, "checkpoint.safetensors"),
  weights: join(folder, "weights.safetensors"),
  log: join(folder, "log.jsonl"),
});

/** A whole run: from nothing, from weights or from a checkpoint, to the end of its budget or to `stop`. */
export async function runTraining(request: TrainRequest): Promise<TrainResult> {
  const { config, folder, device, threads, checkpoint, stop, progress } = request;
  await mkdir(folder, { recursive: true });
  const files = runFiles(folder);
  const engine = createTorchEngine({ device, ...(threads !== undefined && { threads }) });
  if (device.startsWith("cuda")) engine.fastMath({ tf32: false, cudnnBenchmark: true }); // bf16 does the heavy part; the surface is solved exactly
  const source = await openSource({ ...request, engine, share: { rank: 0, of: 1 } });
  const trainer = createTrainer({ engine, config, weights: request.weights });
  if (checkpoint) restoreCheckpoint(checkpoint, { engine, trainer });
  const from = checkpoint?.step ?? 0;
  const writeLog = openLog(files.log, { from });
  let metrics: Readonly<Record<string, number>> = {};
  try {
    await source.prepare(from); // its time is not training time
    const clock = createClock(budgetOf(config, source), { now: () => performance.now() / 1000, before: checkpoint?.seconds ?? 0 });
    const log = (entry: LogEntry): void => {
      writeLog(entry);
      progress(describeEntry(entry));
    };
    const step = await train(config, {
      trainer,
      batches: source.batches,
      clock,
      from,
      evaluate: async () => (metrics = await source.evaluate({ engine, trainer, precision: config.precision })),
      log,
      save: (step) => save({ engine, trainer, config, step, seconds: clock.seconds(), files }),
      stop,
    });
    return { step, seconds: clock.seconds(), stopped: stop.aborted, metrics, files };
  } finally {
    await source.close();
  }
}

interface Save {
  readonly engine: TorchEngine;
  readonly trainer: Trainer;
  readonly config: TrainConfig;
  readonly step: number;
  readonly seconds: number;
  readonly files: ReturnType<typeof runFiles>;
}

/** The checkpoint to continue from, and beside it the averaged weights as they would ship. */
async function save({ files, ...state }: Save): Promise<void> {
  const { engine, trainer, config, step, seconds } = state;
  await saveCheckpoint(files.checkpoint, state);
  const notes = { step: String(step), minutes: (seconds / 60).toFixed(1), data: config.data.kind, seed: String(config.seed) };
  const weights = averagedWeights(engine, trainer.ema.averages);
  await exportWeights(files.weights, { model: config.model, weights, storage: "f16", notes });
}

function budgetOf({ budget }: TrainConfig, { stepsPerEpoch }: TrainSource): { steps: number } | { minutes: number } {
  if (!("epochs" in budget)) return budget;
  if (stepsPerEpoch === undefined) throw new ConfigError("rendered data has no epochs: give budget.steps or budget.minutes");
  return { steps: Math.round(budget.epochs * stepsPerEpoch) };
}
