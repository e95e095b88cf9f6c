import { setImmediate } from "node:timers/promises";
import { concrete } from "../engine/dims.ts";
import { DualFocusError } from "../errors.ts";
import { disposeBatch, type TrainBatch } from "./batch.ts";
import type { TrainConfig } from "./config.ts";
import { cosineRate } from "./schedule.ts";
import type { Losses, Trainer } from "./trainer.ts";

/** The batch of a step depends on the step alone, so that a resumed run sees the same ones. */
export interface BatchSource {
  batch(step: number): TrainBatch | Promise<TrainBatch>;
}

export interface Clock {
  /** Seconds of training so far, including those before a resume. */
  seconds(): number;
  /** Completed share of the run, in [0, 1], by steps or by time. */
  progress(step: number): number;
}

export interface LogEntry {
  readonly step: number;
  readonly seconds: number;
  readonly [name: string]: number;
}

type Metrics = Readonly<Record<string, number>>;

export interface Run {
  readonly trainer: Trainer;
  readonly batches: BatchSource;
  readonly clock: Clock;
  /** Steps already taken, when the run is resumed. */
  readonly from: number;
  /** Undefined when `stop` fired before it was complete. */
  readonly evaluate: (step: number) => Promise<Metrics | undefined> | Metrics | undefined;
  readonly log: (entry: LogEntry) => void;
  readonly save: (step: number) => Promise<void>;
  /** Saves and ends the run. */
  readonly stop: AbortSignal;
}

/** A loss or weight is not finite: the weights are unusable. Checkpoints saved before are not affected. */
export class DivergedError extends DualFocusError {
  override readonly name = "DivergedError";

  /** `checkpoint`: whether there is one to continue from. */
  constructor(message: string, { checkpoint = false }: { readonly checkpoint?: boolean } = {}) {
    super("diverged", message, { facts: { checkpoint } });
  }
}

/** Trains until the budget is used up or `stop` fires; then saves. Returns the last step. */
export async function train(config: TrainConfig, { trainer, batches, clock, from, evaluate, log, save, stop }: Run): Promise<number> {
  let [step, stacks, rate] = [from, 0, 0];
  let [lastReport, lastSave] = [clock.seconds(), clock.seconds()];
  const report = (): void => {
    const losses = finite(trainer.takeLosses(), step);
    const seconds = clock.seconds(); // after the device has caught up
    const stacksPerSecond = stacks / (seconds - lastReport);
    if (losses) log({ step, seconds, progress: clock.progress(step), rate, stacksPerSecond, ...losses });
    [stacks, lastReport] = [0, seconds];
  };
  const measure = async (): Promise<void> => {
    const metrics = await evaluate(step);
    if (metrics) log({ step, seconds: clock.seconds(), ...metrics });
  };

  while (clock.progress(step) < 1 && !stop.aborted) {
    rate = cosineRate(config.learningRate, { progress: clock.progress(step), step });
    const batch = await batches.batch(step);
    step += 1;
    trainer.step(batch, { step, rate });
    stacks += concrete(batch.images.shape[0] ?? 0, "batch");
    disposeBatch(batch);

    const saveDue = clock.seconds() - lastSave >= 60 * config.saveEveryMinutes;
    if (step % config.logEvery === 0 || saveDue) report();
    if (step % config.evaluateEvery === 0 && clock.progress(step) < 1) await measure();
    if (saveDue) {
      await save(step);
      lastSave = clock.seconds();
    }
    await setImmediate(); // signals arrive only when the event loop turns
  }
  report();
  await save(step);
  if (!stop.aborted) await measure();
  return step;
}

function finite(losses: Losses | undefined, step: number): Losses | undefined {
  const broken = Object.entries(losses ?? {}).find(([, value]) => !Number.isFinite(value));
  if (broken) throw new DivergedError(`train: the ${broken[0]} loss is ${broken[1]} at step ${step}`);
  return losses;
}

/** A clock by steps, or by minutes of training. `now` in seconds; `before` those of earlier runs. */
export function createClock(
  budget: { readonly steps: number } | { readonly minutes: number },
  { now, before }: { readonly now: () => number; readonly before: number },
): Clock {
  const start = now();
  const seconds = (): number => before + now() - start;
  return {
    seconds,
    progress: (step) => Math.min(1, "steps" in budget ? step / budget.steps : seconds() / (60 * budget.minutes)),
  };
}
