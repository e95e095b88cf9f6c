import type { Size } from "../../../src/image/image.ts";
import { reducedSize } from "../../../src/depth/twoSizes.ts";
import { workingPixels } from "../../../src/depth/working.ts";
import type { Event } from "../worker/protocol.ts";

export type StageName = Extract<Event, { kind: "stage" }>["stage"];

/** A step of a stage that has been done. */
export interface StageStep {
  readonly stage: StageName;
  readonly done: number;
  readonly of: number;
}

/** The stages of a job from opening to result, in the order in which they run. */
export const STAGES = ["open", "read", "align", "check", "graph", "infer", "fill", "enlarge"] as const satisfies readonly StageName[];
export type WorkStage = (typeof STAGES)[number];

/** Expected seconds of each stage. */
export type Work = Readonly<Partial<Record<WorkStage, number>>>;

/** How far a job has come. */
export interface Progress {
  /** What is being done. */
  readonly stage: WorkStage;
  /** Of all work from opening to result; never falls. */
  readonly share: number;
  /** Where the bar will be when the step in hand is done, and in how many seconds that is expected: it moves there meanwhile. */
  readonly next: { readonly share: number; readonly seconds: number };
  /** Undefined as long as there is nothing to go by. */
  readonly secondsLeft: number | undefined;
  /** Expected seconds of the whole, by stage. */
  readonly work: Work;
  /** What of it is left. */
  readonly left: Work;
  /** Seconds spent so far, and expected seconds of what was done in them. */
  readonly spent: number;
  readonly worked: number;
  /** When the last step ended [s]. */
  readonly at: number;
}

const total = (work: Work): number => STAGES.reduce((sum, stage) => sum + (work[stage] ?? 0), 0);

/** Steps in which a stage is usually reported, until it says so itself. */
const USUAL_STEPS: Readonly<Record<WorkStage, number>> = { open: 4, graph: 1, read: 4, align: 10, check: 1, infer: 1, fill: 1, enlarge: 4 };

/** Work of which `left` is still to be done, at the time `now` [s]. */
export function begin(work: Work, { left = work, now }: { left?: Work; now: number }): Progress {
  const whole = total(work);
  const share = whole > 0 ? Math.min(1, Math.max(0, 1 - total(left) / whole)) : 0;
  return underway({ share, work, left, spent: 0, worked: 0, at: now });
}

type Done = Omit<Progress, "stage" | "next" | "secondsLeft">;

/** Seconds of measurement that the expectations count for. */
const PRIOR = 1;
/** Before this many seconds nothing is said of the time left. */
const SILENCE = 1.5;

/** What comes next after what is done: another step of the stage, of this many expected seconds, or the first step of the next stage. */
function underway(done: Done, current?: { readonly stage: WorkStage; readonly step: number }): Progress {
  const { share, work, left, spent, worked } = done;
  const rest = total(left);
  const goesOn = current !== undefined && (left[current.stage] ?? 0) > 0;
  const stage = goesOn ? current.stage : (STAGES.find((each) => (left[each] ?? 0) > 0) ?? current?.stage ?? "enlarge");
  const step = Math.min(goesOn ? current.step : (work[stage] ?? 0) / USUAL_STEPS[stage], left[stage] ?? 0);
  const pace = (spent + PRIOR) / (worked + PRIOR);
  return {
    ...done,
    stage,
    next: { share: rest > 0 ? share + (1 - share) * (step / rest) : share, seconds: step * pace },
    secondsLeft: spent < SILENCE && worked < SILENCE ? undefined : rest * pace,
  };
}

/**
 * The progress after a step. The share grows by the part of the remaining work that was done, so it never falls and reaches 1 with the
 * last step, even if more work turns up: images that must be read again in a larger size make the bar slower, not shorter.
 */
export function advance(progress: Progress, { stage, done, of }: StageStep, now: number): Progress {
  const at = STAGES.indexOf(stage as WorkStage);
  if (at < 0) return progress;
  const name = STAGES[at] as WorkStage;
  const rest = of > 0 ? 1 - done / of : 0;
  const isRepeated = (progress.left[name] ?? 0) === 0 && rest > 0;
  const leftOf = (each: WorkStage, i: number): number => {
    if (each === name) return (progress.work[name] ?? 0) * rest;
    return i < at && !isRepeated && each !== "graph" ? 0 : (progress.left[each] ?? 0); // the model loads beside all the others
  };
  const left: Work = Object.fromEntries(STAGES.map((each, i) => [each, leftOf(each, i)]));
  const [before, after] = [total(progress.left), total(left)];
  const didWork = Math.max(0, before - after);
  const share = before > 0 ? progress.share + (1 - progress.share) * Math.min(1, didWork / before) : progress.share;
  const spent = progress.spent + Math.max(0, now - progress.at);
  const thisStep = (progress.left[name] ?? 0) - (left[name] ?? 0); // more than one in `of` where they come in percent
  const step = Math.max((progress.work[name] ?? 0) / of, thisStep);
  return underway({ share, work: progress.work, left, spent, worked: progress.worked + didWork, at: now }, { stage: name, step });
}

/** The same progress with another expectation of what is left, made when more is known; the share stays. */
export const replanned = (progress: Progress, { work, left }: Pick<Progress, "work" | "left">): Progress =>
  underway({ ...progress, work, left });

/** Where the bar stands a while after the last step: on its way to the next, ever slower once that is overdue. */
export function shareShown({ share, next }: Pick<Progress, "share" | "next">, seconds: number): number {
  if (next.seconds <= 0 || next.share <= share) return share;
  const time = seconds / next.seconds;
  return share + (next.share - share) * (time < 0.8 ? time : 1 - 0.2 * Math.exp(-(time - 0.8) / 0.8));
}

/** What a stage's work grows with. */
export interface StackFacts extends Size {
  readonly planes: number;
}

/** Amount of work of each stage: decoded or working megapixels. */
function amounts({ planes, ...size }: StackFacts): Readonly<Record<WorkStage, number>> {
  const file = (planes * size.width * size.height) / 1e6;
  const working = workingPixels(size) / 1e6;
  const factor = Math.sqrt((1e6 * working) / (size.width * size.height));
  const reduced = reducedSize({ width: Math.round(factor * size.width), height: Math.round(factor * size.height) });
  const windows = planes <= 10 ? planes : 10 * (Math.ceil((planes - 10) / 5) + 2);
  return {
    open: planes,
    graph: 1,
    read: file + planes * working,
    align: (2 * planes - 3) * working,
    check: planes * working,
    infer: windows * (working + (reduced ? (reduced.width * reduced.height) / 1e6 : 0)),
    fill: working,
    enlarge: file,
  };
}

/** Seconds per amount, measured on two cores with WebAssembly; the first run on another machine replaces them by its own. */
export const RATES: Readonly<Record<WorkStage, number>> = {
  open: 0.01,
  graph: 1.5,
  read: 0.08,
  align: 0.35,
  check: 0.6,
  infer: 0.9,
  fill: 1.2,
  enlarge: 0.25,
};

/** Expected seconds of every stage of a stack. */
export function expectedWork(facts: StackFacts, rates: Readonly<Record<WorkStage, number>> = RATES): Record<WorkStage, number> {
  const amount = amounts(facts);
  return Object.fromEntries(STAGES.map((stage) => [stage, amount[stage] * rates[stage]])) as Record<WorkStage, number>;
}

/** Rates of this machine, from the seconds that stages took. Stages that had nothing to do (images already read) tell nothing. */
export function learnedRates(
  rates: Readonly<Record<WorkStage, number>>,
  facts: StackFacts,
  seconds: Readonly<Partial<Record<WorkStage, number>>>,
): Record<WorkStage, number> {
  const amount = amounts(facts);
  return Object.fromEntries(
    STAGES.map((stage) => {
      const measured = (seconds[stage] ?? 0) / amount[stage];
      return [stage, measured > 0.05 * rates[stage] ? (rates[stage] + measured) / 2 : rates[stage]];
    }),
  ) as Record<WorkStage, number>;
}
