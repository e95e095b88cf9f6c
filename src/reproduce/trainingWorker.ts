import { existsSync } from "node:fs";

import { FormatError } from "../io/formatError.ts";
import { makeFolder } from "../system/outputFolder.ts";
import { holdFolder } from "../system/runLock.ts";
import { UserError } from "../system/userError.ts";
import { readCheckpoint } from "../train/checkpoint.ts";
import { ConfigError } from "../train/config.ts";
import { DivergedError } from "../train/loop.ts";
import { runFiles, runTraining, type TrainResult } from "../train/run.ts";
import type { Message, TrainingJob } from "./trainingProcess.ts";

/** The process of one training run (trainingProcess.ts). The first message is the run, any further one asks it to stop. */

const stop = new AbortController();
const interrupt = (): void => {
  stop.abort();
};

process.once("message", (job: TrainingJob) => {
  process.once("message", interrupt).once("disconnect", interrupt);
  train(job).then(
    (result) => {
      finish({ kind: "result", result });
    },
    (error: unknown) => {
      finish(describe(error));
    },
  );
});

async function train(job: TrainingJob): Promise<TrainResult> {
  await makeFolder(job.folder);
  return holdFolder(job.folder, async () => {
    const file = runFiles(job.folder).checkpoint;
    const checkpoint = existsSync(file) ? await readCheckpoint(file) : undefined;
    const progress = (line: string): void => {
      send({ kind: "progress", line });
    };
    return runTraining({ ...job, checkpoint, stop: stop.signal, progress });
  });
}

function describe(error: unknown): Message {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UserError) return { kind: "failure", message, exitCode: error.exitCode, remedy: error.remedy };
  if (error instanceof ConfigError) return { kind: "failure", message, exitCode: 2 };
  if (error instanceof FormatError || error instanceof DivergedError) return { kind: "failure", message, exitCode: 3 };
  return { kind: "failure", message: error instanceof Error ? String(error.stack) : message };
}

function send(message: Message, then?: () => void): void {
  if (process.connected) process.send?.(message, undefined, undefined, then);
  else then?.();
}

function finish(message: Message): void {
  send(message, () => process.exit());
}
