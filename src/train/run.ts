import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Tensor } from "../engine/engine.ts";
import { createTorchEngine, type TorchEngine } from "../engine/torch/torchEngine.ts";
import { DualFocusError } from "../errors.ts";
import type { Weights } from "../io/safetensors.ts";
import type { TrainingRun } from "../network/facts.ts";
import { writeAtomically } from "../system/atomicFile.ts";
import {
  averagedWeights,
  checkpointTensors,
  exportWeights,
  restoreCheckpoint,
  saveCheckpoint,
  type Checkpoint,
  type TrainedOn,
} from "./checkpoint.ts";
import { ConfigError, type TrainConfig } from "./config.ts";
import { agree, joinGroup, type Group, type Membership } from "./distributed.ts";
import { describeEntry, openLog, readLog } from "./log.ts";
import { createClock, DivergedError, train, type LogEntry } from "./loop.ts";
import { formatReport, type Example } from "./report.ts";
import { openSource, type TrainSource } from "./source.ts";
import { checkTextures, findData, trainedFacts } from "./trainedOn.ts";
import { createTrainer, type Trainer } from "./trainer.ts";

export interface TrainRequest {
  readonly config: TrainConfig;
  /** Checkpoint, weights and log go here. */
  readonly folder: string;
  /** "cpu", "cuda" or "cuda:N". */
  readonly device: string;
  readonly threads?: number | undefined;
  /** To continue from. */
  readonly checkpoint?: Checkpoint | undefined;
  /** Weights to start from, when there is no checkpoint. */
  readonly weights?: Weights | undefined;
  /** The training runs that led to these weights. */
  readonly before?: readonly TrainingRun[] | undefined;
  /** Paths of the textures and of a published set; a checkpoint holds those of its run. */
  readonly textures?: string | undefined;
  readonly data?: string | undefined;
  /** Where this process belongs when several train together; `folder` is then one they all see. */
  readonly membership?: Membership | undefined;
  /** Saves and ends the run early. */
  readonly stop: AbortSignal;
  /** Progress callback; lines of text. */
  readonly progress: (line: string) => void;
}

export interface TrainResult {
  readonly step: number;
  readonly seconds: number;
  readonly stopped: boolean;
  /** Of the last evaluation. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly files: Readonly<Record<"checkpoint" | "weights" | "log" | "report", string>>;
}

export const runFiles = (folder: string) => ({
  checkpoint: join(folder, "checkpoint.safetensors"),
  weights: join(folder, "weights.safetensors"),
  log: join(folder, "log.jsonl"),
  report: join(folder, "report.html"),
});

/** A whole run: from nothing, from weights or from a checkpoint, to the end of its budget or to `stop`. */
export async function runTraining(request: TrainRequest): Promise<TrainResult> {
  const { config, folder, device, membership, checkpoint, stop } = request;
  const data = findData(request);
  const engine = openEngine(request);
  await mkdir(folder, { recursive: true });
  if (device.startsWith("cuda")) engine.fastMath({ tf32: false, cudnnBenchmark: true }); // bf16 does the heavy part; the surface is solved exactly
  const group = membership && joinGroup(engine, membership);
  const share = { rank: group?.rank ?? 0, of: group?.size ?? 1 };
  const progress = share.rank === 0 ? request.progress : (): void => undefined;
  const source = await openSource({ ...request, ...data, engine, share, progress });
  try {
    const warning = checkTextures(source.textures, request);
    if (warning !== undefined) progress(warning);
    const trainer = createTrainer({
      engine,
      config,
      weights: request.weights,
      reduce:
        group &&
        ((gradients) => {
          group.average(gradients);
        }),
    });
    if (checkpoint) restoreCheckpoint(checkpoint, { engine, trainer, config });
    group?.broadcast([...checkpointTensors(trainer).values()]);
    await unlessStopped(stop, () => source.prepare(checkpoint?.step ?? 0, stop)); // its time is not training time
    const before = request.before ?? checkpoint?.trainedOn?.before;
    const trainedOn = { ...data, ...(before && { before }), ...(source.textures !== undefined && { textureCount: source.textures }) };
    return await trainWith(request, { engine, trainer, source, group, trainedOn });
  } catch (error) {
    if (!(error instanceof DivergedError)) throw error;
    throw new DivergedError(error.message, { checkpoint: existsSync(runFiles(folder).checkpoint) });
  } finally {
    await source.close();
    group?.leave();
  }
}

/** The result of `body`; undefined if `stop` has ended it. */
async function unlessStopped<T>(stop: AbortSignal, body: () => Promise<T>): Promise<T | undefined> {
  try {
    return await body();
  } catch (error) {
    if (stop.aborted && error === stop.reason) return undefined;
    throw error;
  }
}

function openEngine({ device, threads }: TrainRequest): TorchEngine {
  try {
    return createTorchEngine({ device, ...(threads !== undefined && { threads }) });
  } catch (cause) {
    throw new DualFocusError("device-unavailable", `device ${device}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

interface Parts {
  readonly engine: TorchEngine;
  readonly trainer: Trainer;
  readonly source: TrainSource;
  readonly group: Group | undefined;
  readonly trainedOn: TrainedOn;
}

const AGREE_EVERY = { cpu: 1, cuda: 16 } as const; // steps

/** Statistics of batch norms and their averages, which each process has of its own stacks only. */
function ownStatistics({ norms }: TrainConfig, { tree, ema }: Trainer): Tensor[] {
  if (norms === "frozen") return [];
  return [...tree.buffers.values(), ...[...ema.averages].filter(([name]) => tree.buffers.has(name)).map(([, average]) => average)];
}

/** Rank 0 alone logs and saves. */
async function trainWith(request: TrainRequest, { engine, trainer, source, group, trainedOn }: Parts): Promise<TrainResult> {
  const { config, device, checkpoint, progress } = request;
  const [files, leads, from] = [runFiles(request.folder), group === undefined || group.rank === 0, checkpoint?.step ?? 0];
  const writeLog = leads ? openLog(files.log, { from }) : (): void => undefined;
  let metrics: Readonly<Record<string, number>> = {};
  // This process's own stop, not the common one: processes do not agree on anything during an evaluation, and usually stop together.
  const evaluation = { engine, trainer, precision: config.precision, stop: request.stop };
  const budget = budgetOf(config, source);
  const own = {
    clock: createClock(budget, { now: () => performance.now() / 1000, before: checkpoint?.seconds ?? 0 }),
    stop: request.stop,
  };
  const every = AGREE_EVERY[device === "cpu" ? "cpu" : "cuda"];
  const statistics = ownStatistics(config, trainer);
  const { clock, stop } = group ? agree({ engine, group, ...own, timed: "minutes" in budget, every, statistics }) : own;
  const step = await train(config, {
    trainer,
    batches: source.batches,
    clock,
    from,
    stop,
    evaluate: async () => {
      group?.average(statistics);
      return unlessStopped(request.stop, async () => (metrics = await source.evaluate(evaluation)));
    },
    log: (entry: LogEntry) => {
      if (!leads) return;
      const { stacksPerSecond } = entry;
      const whole = stacksPerSecond === undefined ? entry : { ...entry, stacksPerSecond: stacksPerSecond * (group?.size ?? 1) };
      writeLog(whole);
      progress(describeEntry(whole));
    },
    save: async (step) => {
      if (leads) await save({ engine, trainer, config, trainedOn, step, seconds: clock.seconds(), files });
    },
  });
  const result = { step, seconds: clock.seconds(), stopped: stop.aborted, metrics, files };
  const examples = async () => (await unlessStopped(request.stop, () => source.examples(evaluation))) ?? [];
  if (leads) await writeReport(result, { config, examples: await examples() });
  return result;
}

async function writeReport(
  { step, seconds, files }: TrainResult,
  { config, examples }: { readonly config: TrainConfig; readonly examples: readonly Example[] },
): Promise<void> {
  const facts = [
    ["steps", String(step)],
    ["minutes", (seconds / 60).toFixed(1)],
    ["network", config.model.kind],
    ["data", config.data.kind],
    ["seed", String(config.seed)],
  ] as const;
  const page = formatReport({ title: "Training run", facts, entries: readLog(files.log), examples });
  await writeAtomically(files.report, Buffer.from(page));
}

interface Save {
  readonly engine: TorchEngine;
  readonly trainer: Trainer;
  readonly config: TrainConfig;
  readonly trainedOn: TrainedOn;
  readonly step: number;
  readonly seconds: number;
  readonly files: ReturnType<typeof runFiles>;
}

/** The checkpoint to continue from, and the averaged weights as they would ship. */
async function save({ files, ...state }: Save): Promise<void> {
  const { engine, trainer, config, step, seconds, trainedOn } = state;
  await saveCheckpoint(files.checkpoint, state);
  const weights = averagedWeights(engine, trainer.ema.averages);
  await exportWeights(files.weights, {
    model: config.model,
    weights,
    storage: "f16",
    facts: trainedFacts({ config, step, seconds, trainedOn }),
  });
}

function budgetOf({ budget }: TrainConfig, { stepsPerEpoch }: TrainSource): { steps: number } | { minutes: number } {
  if (!("epochs" in budget)) return budget;
  if (stepsPerEpoch === undefined) throw new ConfigError("rendered data has no epochs: give budget.steps or budget.minutes");
  return { steps: Math.round(budget.epochs * stepsPerEpoch) };
}
