import type { Finding } from "../../../src/check/finding.ts";
import type { EngineInfo, View, ViewResult } from "../contract.ts";
import type { Event, Figures, OpenedStack, Problem } from "../worker/protocol.ts";
import { draftOf, type Draft } from "./distances.ts";
import { FIRST_LOOK, type Look } from "./look.ts";

export type StageName = Extract<Event, { kind: "stage" }>["stage"];

export interface Progress {
  readonly stage: StageName;
  readonly done: number;
  readonly of: number;
}

export type EngineState =
  | { readonly status: "loading"; readonly progress: Progress | undefined }
  | ({ readonly status: "ready" } & EngineInfo)
  | { readonly status: "failed"; readonly problem: Problem };

/** Number of images whose headers were read; undefined if no stack is being opened. */
export type OpeningState = { readonly done: number; readonly of: number } | undefined;

export type CheckState =
  | { readonly status: "waiting" }
  | { readonly status: "busy" }
  | { readonly status: "done"; readonly findings: readonly Finding[] }
  | { readonly status: "failed"; readonly problem: Problem };

export type FiguresState =
  { readonly status: "none" | "busy" } | ({ readonly status: "done" } & Figures) | { readonly status: "failed"; readonly problem: Problem };

/** Everything the page shows. */
export interface State {
  readonly engine: EngineState;
  /** Why a stack could not be opened or a run failed. */
  readonly problem: Problem | undefined;
  readonly opening: OpeningState;
  readonly stack: OpenedStack | undefined;
  /** Object URLs, by the image's index in the order of the file names. */
  readonly thumbnails: Readonly<Record<number, string>>;
  readonly draft: Draft;
  /** Why the distances cannot be used. */
  readonly draftProblem: Problem | undefined;
  readonly align: boolean;
  readonly check: CheckState;
  readonly run: Progress | undefined;
  readonly result: ViewResult | undefined;
  readonly figures: FiguresState;
  readonly view: View;
  readonly look: Look;
}

export const INITIAL: State = {
  engine: { status: "loading", progress: undefined },
  problem: undefined,
  opening: undefined,
  stack: undefined,
  thumbnails: {},
  draft: { unit: "index", texts: {} },
  draftProblem: undefined,
  align: true,
  check: { status: "waiting" },
  run: undefined,
  result: undefined,
  figures: { status: "none" },
  view: "depth",
  look: FIRST_LOOK,
};

export type Action =
  | { readonly kind: "engine"; readonly engine: EngineState }
  | { readonly kind: "problem"; readonly problem: Problem | undefined }
  | { readonly kind: "opening"; readonly opening: NonNullable<OpeningState> }
  | { readonly kind: "opened"; readonly stack: OpenedStack }
  | { readonly kind: "thumbnail"; readonly frame: number; readonly url: string }
  | { readonly kind: "draft"; readonly draft: Draft }
  | { readonly kind: "focused"; readonly stack: OpenedStack }
  | { readonly kind: "unfocused"; readonly problem: Problem }
  | { readonly kind: "align"; readonly align: boolean }
  | { readonly kind: "check"; readonly check: CheckState }
  | { readonly kind: "run"; readonly progress: Progress | undefined }
  | { readonly kind: "result"; readonly result: ViewResult }
  | { readonly kind: "figures"; readonly figures: FiguresState }
  | { readonly kind: "view"; readonly view: View }
  | { readonly kind: "look"; readonly look: Partial<Look> }
  | { readonly kind: "back" }
  | { readonly kind: "startOver" };

/** Where the user is. */
export type Step = "start" | "setup" | "run" | "result";

export const stepOf = ({ stack, run, result }: State): Step => (run ? "run" : result ? "result" : stack ? "setup" : "start");

const FRESH = { problem: undefined, opening: undefined, run: undefined, result: undefined, figures: INITIAL.figures } as const;

export function reduce(state: State, action: Action): State {
  switch (action.kind) {
    case "engine":
      return { ...state, engine: action.engine };
    case "problem":
      return { ...state, problem: action.problem, opening: undefined, run: undefined };
    case "opening":
      return { ...INITIAL, engine: state.engine, opening: action.opening };
    case "opened":
      return { ...state, ...FRESH, stack: action.stack, draft: draftOf(action.stack), check: { status: "waiting" } };
    case "thumbnail":
      return { ...state, thumbnails: { ...state.thumbnails, [action.frame]: action.url } };
    case "draft":
      return { ...state, draft: action.draft, draftProblem: undefined };
    case "focused":
      return { ...state, stack: action.stack, draft: draftOf(action.stack), draftProblem: undefined, check: { status: "waiting" } };
    case "unfocused":
      return { ...state, draftProblem: action.problem };
    case "align":
      return { ...state, align: action.align };
    case "check":
      return { ...state, check: action.check };
    case "run":
      return { ...state, run: action.progress, problem: undefined };
    case "result":
      return { ...state, ...FRESH, result: action.result, view: "depth", look: FIRST_LOOK };
    case "figures":
      return { ...state, figures: action.figures };
    case "view":
      return { ...state, view: action.view };
    case "look":
      return { ...state, look: { ...state.look, ...action.look } };
    case "back":
      return { ...state, ...FRESH };
    case "startOver":
      return { ...INITIAL, engine: state.engine };
  }
}
