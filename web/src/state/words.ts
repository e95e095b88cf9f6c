import type { Finding, FindingCode, Severity } from "../../../src/check/finding.ts";
import { remedies, type ErrorReport } from "../../../src/errors.ts";
import type { DepthUnit } from "../../../src/output/result.ts";
import { displayUnit } from "../../../src/output/ticks.ts";
import { unreadableRemedy } from "../../../src/stack/imageName.ts";
import type { Problem } from "../worker/protocol.ts";
import type { StageName, StageStep } from "./progress.ts";
import type { EngineState, OpeningState, State } from "./state.ts";

/** Labels of the page that its advice refers to. */
export const LABELS = { align: "Align the images", noDistances: "I don’t know" } as const;

const UNTICK = `if the images are aligned already, untick “${LABELS.align}”`;
const BY_ORDER = `or choose “${LABELS.noDistances}” to go by the order of the files`;
const RELOAD = "load the page again";

/** What the page says about an error: what to enter, tick or drop. */
const remedyOf = remedies({
  "bad-file": ({ file = "" }) => unreadableRemedy(String(file)),
  "no-stack": "drop the images of one focal stack",
  "distances-invalid": `correct the focus distances beside the images, ${BY_ORDER}`,
  "distances-missing": "enter them beside the images",
  "some-distances-missing": `enter all distances beside the images, ${BY_ORDER}`,
  "too-few-aligned": UNTICK,
  "bad-alignment-file": RELOAD,
  "alignment-mismatch": RELOAD,
  "image-too-large": "export the images in a smaller size, or close other tabs",
  "truth-unusable": RELOAD,
  "unknown-model": RELOAD,
  "no-weights": RELOAD,
  "network-unsupported": RELOAD,
  "device-unavailable": RELOAD,
  diverged: RELOAD,
  "output-not-empty": RELOAD,
  "output-in-use": RELOAD,
  "write-failed": RELOAD,
  "time-limit": "use fewer or smaller images",
  "memory-limit": "use smaller images, or close other tabs",
  internal: RELOAD,
  "redis-unreachable": RELOAD,
  "store-in-use": RELOAD,
  "address-unavailable": RELOAD,
});

/** An error of the worker as the page shows it. */
export const problemWords = (error: ErrorReport): Problem => ({
  message: sentence(error.message),
  remedy: sentence(remedyOf(error)),
  ...(typeof error.facts["file"] === "string" ? { file: error.facts["file"] } : {}),
});

const FINDING_REMEDIES: Readonly<Partial<Record<FindingCode, (finding: Finding) => string>>> = {
  unaligned: ({ severity, remedy }) => (severity === "error" ? `check that they show one still scene; ${UNTICK}` : remedy),
  "missing-distances": () => "enter them beside the images",
};

/** What the page says about a finding of the stack check. */
export const findingRemedy = (finding: Finding): string => sentence(FINDING_REMEDIES[finding.code]?.(finding) ?? finding.remedy);

/** With a capital, unless it begins with the name of a file, and a full stop. */
export function sentence(text: string): string {
  const beginsWithFile = /^\S+\.\w+\b/.test(text);
  const capital = beginsWithFile ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?][”)]?$/.test(capital) ? capital : `${capital}.`;
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
  open: "Opening the images",
  weights: "Loading the model",
  runtime: "Loading the runtime",
  graph: "Starting the model",
  frames: "Reading the video",
  read: "Reading the images",
  align: "Aligning the images",
  check: "Checking the images",
  infer: "Estimating depth",
  fill: "Finishing the depth",
  enlarge: "Computing full-size maps",
  write: "Writing",
};

export const stageWords = ({ stage }: Pick<StageStep, "stage">): string => STAGE_WORDS[stage];

/** Start and end of each stage of loading the model, as a share of the whole: roughly the time it takes. */
const SHARES: Readonly<Partial<Record<StageName, readonly [number, number]>>> = {
  runtime: [0, 0.4],
  weights: [0.4, 0.9],
  graph: [0.9, 1],
};

/** The share of the model that is loaded. */
export function shareLoaded({ stage, done, of }: StageStep): number {
  const [from, to] = SHARES[stage] ?? [0, 1];
  return from + (to - from) * (of > 0 ? done / of : 0);
}

/** What is known of the order of the images in the setup. */
export function orderWords({ draft, check }: Pick<State, "draft" | "check">): { readonly title: string; readonly words: string } {
  if (draft.unit !== "index") return { title: "Nearest first", words: "by the focus distances below the images." };
  if (draft.isArranged) return { title: "Nearest first", words: "in the order you chose." };
  if (check.status !== "done")
    return { title: "Order unknown", words: "The images are in the order of their names; the check looks for signs of what is near." };
  const { certainty, sentence: reason } = check.order;
  return { title: certainty === "unknown" ? "Order unknown" : "Nearest first, probably", words: sentence(reason) };
}

/** "about 40 s left", "about 3 min left"; nothing while that is unknown. */
export function timeLeftWords(seconds: number | undefined): string {
  if (seconds === undefined) return "";
  if (seconds < 1.5) return "about a second left";
  if (seconds < 10) return `about ${Math.round(seconds)} s left`;
  if (seconds < 90) return `about ${5 * Math.round(seconds / 5)} s left`;
  return `about ${Math.round(seconds / 60)} min left`;
}

export function openingWords({ stage, done, of }: NonNullable<OpeningState>): string {
  if (stage === "frames") return `${STAGE_WORDS.frames}: ${done} % …`;
  return done === 0 ? "Opening the files …" : `Opening the images: ${done} of ${of} …`;
}

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
