import type { Finding, Severity } from "../../../src/check/finding.ts";
import type { DepthUnit } from "../../../src/output/result.ts";
import { displayUnit } from "../../../src/output/ticks.ts";
import type { EngineState, OpeningState, Progress, StageName } from "./state.ts";

/** The library's messages name options of the command; the page has fields and boxes instead. */
const IN_THE_PAGE: readonly (readonly [RegExp, string])[] = [
  [/give them with --distances or a stack\.json, or leave out --unit to get depth in plane numbers/g, "enter them beside the pictures"],
  [/give --align off if they need no aligning/g, "if they need no aligning, untick “Align the pictures”"],
  [/use --align off if the frames are aligned already/g, "if the pictures are aligned already, untick “Align the pictures”"],
  [/give (them|all distances|others) with --distances/g, "enter $1 beside the pictures"],
  [/: give --distances/g, ": enter the distances beside the pictures"],
  [/--unit index to go by/g, "choose “I don’t know” to go by"],
  [/or say --unit mm, um or dpt/g, "or choose another unit"],
  [/\bthe argument\b/g, "what was entered"],
];

/** A message of the library in the words of the page. */
export function inPageWords(text: string): string {
  const plain = IN_THE_PAGE.reduce((sentence, [pattern, words]) => sentence.replace(pattern, words), text);
  const beginsWithFile = /^\S+\.\w+\b/.test(plain); // keep its name
  const sentence = beginsWithFile ? plain : plain.charAt(0).toUpperCase() + plain.slice(1);
  return /[.!?][”)]?$/.test(sentence) ? sentence : `${sentence}.`;
}

export const SEVERITY_WORDS: Readonly<Record<Severity, string>> = {
  error: "Must be fixed",
  warning: "May reduce accuracy",
  note: "Note",
};

/** A one-sentence summary of the check. */
export function checkSummary(findings: readonly Finding[]): string {
  const count = (wanted: Severity): number => findings.filter(({ severity }) => severity === wanted).length;
  const [errors, warnings, notes] = [count("error"), count("warning"), count("note")];
  if (errors > 0) return errors === 1 ? "One problem must be fixed first." : `${errors} problems must be fixed first.`;
  if (warnings > 0)
    return warnings === 1 ? "One problem may make depth less accurate." : `${warnings} problems may make depth less accurate.`;
  return notes > 0 ? "This stack looks good; see the notes." : "This stack looks good.";
}

const STAGE_WORDS: Readonly<Record<StageName, string>> = {
  open: "Opening the pictures",
  weights: "Loading the model",
  runtime: "Loading the runtime",
  graph: "Starting the model",
  read: "Reading the pictures",
  align: "Aligning the pictures",
  check: "Checking the pictures",
  infer: "Estimating depth",
  enlarge: "Computing full-size maps",
  write: "Writing",
};

export const stageWords = ({ stage }: Progress): string => STAGE_WORDS[stage];

/** Start and end of each stage as a share of the whole: roughly the time it takes. */
const SHARES: Readonly<Partial<Record<StageName, readonly [number, number]>>> = {
  weights: [0, 0.5],
  runtime: [0.5, 0.9],
  graph: [0.9, 1],
  read: [0, 0.2],
  align: [0.2, 0.45],
  check: [0.45, 0.5],
  infer: [0.5, 0.85],
  enlarge: [0.85, 1],
};

/** The share of the whole run that is done. */
export function shareDone({ stage, done, of }: Progress): number {
  const [from, to] = SHARES[stage] ?? [0, 1];
  return from + (to - from) * (of > 0 ? done / of : 0);
}

export const openingWords = ({ done, of }: NonNullable<OpeningState>): string =>
  done === 0 ? "Opening the pictures …" : `Opening the pictures: ${done} of ${of} …`;

export function engineWords(engine: EngineState): string {
  switch (engine.status) {
    case "loading":
      return engine.progress ? `${stageWords(engine.progress)} …` : "Starting …";
    case "ready":
      return engine.device === "webgpu"
        ? "Ready: graphics card"
        : `Ready: processor, ${engine.threads === 1 ? "1 thread" : `${engine.threads} threads`}`;
    case "failed":
      return "The model could not be loaded";
  }
}

/** A depth with its unit; `largest` of the map decides between m, mm and µm. */
export function depthText(value: number, { unit, largest }: { unit: DepthUnit; largest: number }): string {
  if (unit === "index") return `plane ${(value + 1).toFixed(2)}`;
  const { name, factor } = displayUnit(unit, largest);
  return `${Number((value * factor).toPrecision(4))} ${name}`;
}

/** ± in the same unit as `depthText`. */
export function errorText(error: number, { unit, largest }: { unit: DepthUnit; largest: number }): string {
  const { name, factor } = unit === "index" ? { name: "planes", factor: 1 } : displayUnit(unit, largest);
  return `± ${Number((error * factor).toPrecision(2))} ${name}`;
}

/** 0.4 s, 12 s. */
export const secondsText = (seconds: number): string => (seconds < 9.95 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`);
