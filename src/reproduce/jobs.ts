import { existsSync } from "node:fs";

import type { Case } from "../bench/case.ts";
import type { Bench } from "../bench/run.ts";
import { DualFocusError } from "../errors.ts";
import type { EvaluationRequest } from "../evaluate/evaluateModels.ts";
import type { Evaluation } from "../evaluate/run.ts";
import { duration } from "../output/duration.ts";
import { makeFolder } from "../system/outputFolder.ts";
import { holdFolder } from "../system/lock.ts";
import type { TrainRequest, TrainResult } from "../train/run.ts";

/** A training run that continues from the checkpoint in its folder, if there is one. */
export type TrainingJob = Pick<TrainRequest, "config" | "folder" | "device" | "data" | "textures" | "threads">;

export interface TimingJob {
  readonly cases: readonly Case[];
  readonly device: string;
  readonly threads: number | undefined;
}

export interface JobContext {
  readonly stop: AbortSignal;
  readonly progress: (line: string) => void;
}

const TIMED_RUNS = 5;

/** Work that is done in processes of its own (processes.ts). Requests and results are plain data. Each loads only what it needs. */
export const jobs = { train, evaluate, time };

async function train(job: TrainingJob, context: JobContext): Promise<TrainResult> {
  const { readCheckpoint } = await import("../train/checkpoint.ts");
  const { runFiles, runTraining } = await import("../train/run.ts");
  await makeFolder(job.folder);
  return holdFolder(job.folder, async () => {
    const file = runFiles(job.folder).checkpoint;
    return runTraining({ ...job, ...context, checkpoint: existsSync(file) ? await readCheckpoint(file) : undefined });
  });
}

async function evaluate(request: EvaluationRequest, { progress }: JobContext): Promise<readonly Evaluation[]> {
  const { evaluateModels } = await import("../evaluate/evaluateModels.ts");
  if (request.resumeDir !== undefined) await makeFolder(request.resumeDir);
  return evaluateModels(request, {
    onImage: ({ done, total, name, secondsLeft }) => {
      progress(`${done} of ${total} (${name}), ${duration(secondsLeft)} left`);
    },
  });
}

async function time({ cases, device, threads = 0 }: TimingJob, { progress }: JobContext): Promise<Bench> {
  const { bench } = await import("../bench/run.ts");
  const now = (): number => performance.now() / 1000;
  const memory = (): Promise<undefined> => Promise.resolve(undefined);
  return bench(await openRuntime(device, threads), cases, { repeats: TIMED_RUNS, now, progress, memory });
}

async function openRuntime(device: string, threads: number) {
  if (device === "cpu") return (await import("../bench/onnxRuntime.ts")).onnxRuntime({ device, threads });
  const { cudaRuntime } = await import("../bench/cudaRuntime.ts");
  try {
    return cudaRuntime({ device });
  } catch (cause) {
    throw new DualFocusError("device-unavailable", `device ${device}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
