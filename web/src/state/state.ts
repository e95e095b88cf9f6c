import type { EngineInfo, View, ViewResult } from "../contract.ts";
import type { CheckAnswer, Figures, FirstLook, OpenedStack, Problem } from "../worker/protocol.ts";
import { draftOf, type Draft } from "./distances.ts";
import { FIRST_LOOK, type Look } from "./look.ts";
import type { Progress, StageStep } from "./progress.ts";

export type { StageName } from "./progress.ts";

export type EngineState =
  | { readonly status: "loading"; readonly progress: StageStep | undefined }
  | ({ readonly status: "ready" } & EngineInfo)
  | { readonly status: "failed"; readonly problem: Problem };

/** Number of images whose headers were read, or percent of a video; undefined if no stack is being opened. */
export type OpeningState = StageStep | undefined;

export type CheckState =
  | { readonly status: "waiting" }
  | { readonly status: "busy"; readonly progress: Progress | undefined }
  | ({ readonly status: "done" } & CheckAnswer)
  | { readonly status: "failed"; readonly problem: Problem };

export type FiguresState =
  { readonly status: "none" | "busy" } | ({ readonly status: "done" } & Figures) | { readonly status: "failed"; readonly problem: Problem };

/** Where the user is, as the browser's history knows it. */
export type Place = "start" | "setup" | "result";

/** The result in the browser's own storage. */
export interface StoredFacts {
  readonly name: string;
  readonly planes: number;
  readonly width: number;
  readonly height: number;
  /** When it was stored, in milliseconds since 1970. */
  readonly at: number;
}

export type StoredState =
  | { readonly status: "unknown" | "none" | "busy" }
  | ({ readonly status: "stored" } & StoredFacts)
  /** There is no storage, or not enough of it. */
  | { readonly status: "failed" };

/** Everything the page shows. */
export interface State {
  readonly place: Place;
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
  /** Depth from small copies, shown while the result is computed. */
  readonly firstLook: FirstLook | undefined;
  readonly result: ViewResult | undefined;
  /** The id of the stack it is of; undefined if its files are not open. */
  readonly resultStack: number | undefined;
  readonly stored: StoredState;
  readonly figures: FiguresState;
  readonly view: View;
  readonly look: Look;
}

export const INITIAL: State = {
  place: "start",
  engine: { status: "loading", progress: undefined },
  problem: undefined,
  opening: undefined,
  stack: undefined,
  thumbnails: {},
  draft: { unit: "index", texts: {}, order: [], leftOut: [], isArranged: false },
  draftProblem: undefined,
  align: true,
  check: { status: "waiting" },
  run: undefined,
  firstLook: undefined,
  result: undefined,
  resultStack: undefined,
  stored: { status: "unknown" },
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
  | { readonly kind: "firstLook"; readonly look: FirstLook }
  | { readonly kind: "result"; readonly result: ViewResult; readonly stack: number | undefined }
  | { readonly kind: "turned"; readonly result: ViewResult; readonly stack: OpenedStack | undefined; readonly figures: FiguresState }
  | ({ readonly kind: "restored"; readonly result: ViewResult; readonly stack: OpenedStack | undefined } & Pick<
      State,
      "align" | "thumbnails"
    >)
  | { readonly kind: "figures"; readonly figures: FiguresState }
  | { readonly kind: "view"; readonly view: View }
  | { readonly kind: "look"; readonly look: Partial<Look> }
  | { readonly kind: "go"; readonly place: Place }
  | { readonly kind: "stored"; readonly stored: StoredState }
  | { readonly kind: "forget" };

/** What the page shows. */
export type Step = Place | "run";

export const stepOf = ({ place, run }: State): Step => (run ? "run" : place);

/** The place that can be shown: the wanted one, or the last before it that there is something for. */
export function reachable(wanted: Place, { stack, result }: Pick<State, "stack" | "result">): Place {
  if (wanted === "result" && result) return "result";
  return wanted !== "start" && stack ? "setup" : "start";
}

/** The draft with the images in the order that the check has found, unless the user has arranged them or their distances say it. */
export function shownDraft({ draft, check }: Pick<State, "draft" | "check">): Draft {
  if (check.status !== "done" || draft.unit !== "index" || draft.isArranged || check.order.planes.length !== draft.order.length)
    return draft;
  const order = check.order.planes.map((plane) => draft.order[plane] as number);
  return order.every((frame, place) => frame === draft.order[place]) ? draft : { ...draft, order, isArranged: true };
}

export function reduce(state: State, action: Action): State {
  switch (action.kind) {
    case "engine":
      return { ...state, engine: action.engine };
    case "problem":
      return { ...state, problem: action.problem, opening: undefined, run: undefined, firstLook: undefined };
    case "opening":
      return { ...state, problem: undefined, opening: action.opening };
    case "opened":
      return { ...state, ...openedState(action.stack), problem: undefined, opening: undefined, thumbnails: {}, place: "setup" };
    case "thumbnail":
      return { ...state, thumbnails: { ...state.thumbnails, [action.frame]: action.url } };
    case "draft":
      return { ...state, draft: action.draft, draftProblem: undefined };
    case "focused":
      return { ...state, ...refocused(state.draft, action.stack) };
    case "unfocused":
      return { ...state, draftProblem: action.problem };
    case "align":
      return { ...state, align: action.align };
    case "check":
      return { ...state, check: action.check };
    case "run":
      return { ...state, run: action.progress, problem: undefined, firstLook: action.progress && state.firstLook };
    case "firstLook":
      return state.run ? { ...state, firstLook: action.look } : state;
    case "result":
      return { ...state, ...shownResult(action), view: "depth", look: FIRST_LOOK };
    case "turned":
      return {
        ...state,
        ...(action.stack ? { ...openedState(action.stack), check: state.check } : {}),
        result: action.result,
        figures: action.figures,
        look: { ...state.look, range: undefined },
      };
    case "restored":
      return {
        ...state,
        ...(action.stack ? { ...openedState(action.stack), thumbnails: action.thumbnails } : {}),
        align: action.align,
        ...shownResult({ result: action.result, stack: action.stack?.id }),
        view: state.view,
      };
    case "figures":
      return { ...state, figures: action.figures };
    case "view":
      return { ...state, view: action.view };
    case "look":
      return { ...state, look: { ...state.look, ...action.look } };
    case "go":
      return { ...state, place: reachable(action.place, state), problem: undefined };
    case "stored":
      return { ...state, stored: action.stored };
    case "forget":
      return {
        ...state,
        result: undefined,
        resultStack: undefined,
        stored: { status: "none" },
        place: reachable(state.place, { ...state, result: undefined }),
      };
  }
}

/** Left-out images keep their distances, for the case that they are put back. */
function refocused(before: Draft, stack: OpenedStack): ReturnType<typeof openedState> {
  const opened = openedState(stack);
  const texts = before.unit === opened.draft.unit ? { ...before.texts, ...opened.draft.texts } : opened.draft.texts;
  return { ...opened, draft: { ...opened.draft, texts } };
}

const openedState = (stack: OpenedStack): Pick<State, "stack" | "draft" | "draftProblem" | "check"> => ({
  stack,
  draft: draftOf(stack),
  draftProblem: undefined,
  check: { status: "waiting" },
});

const shownResult = ({ result, stack }: { result: ViewResult; stack: number | undefined }) =>
  ({
    result,
    resultStack: stack,
    place: "result",
    problem: undefined,
    opening: undefined,
    run: undefined,
    firstLook: undefined,
    figures: INITIAL.figures,
  }) satisfies Partial<State>;
