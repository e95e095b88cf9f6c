import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { TEST_IDS } from "../contract.ts";
import type { Controller } from "../controller.ts";
import { stepOf, type State, type Step } from "../state/state.ts";
import { openingWords } from "../state/words.ts";
import { useStore, type Store } from "../store.ts";
import type { Problem } from "../worker/protocol.ts";
import { CancelOpening } from "./DropZone.tsx";
import { Header } from "./Header.tsx";
import { ResultView } from "./ResultView.tsx";
import { RunView } from "./RunView.tsx";
import { SetupView } from "./SetupView.tsx";
import { StartView } from "./StartView.tsx";
import { useWindowDrop } from "./useWindowDrop.ts";

/** Properties of every view. */
export interface ViewProps {
  readonly state: State;
  readonly controller: Controller;
}

export interface StepProps extends ViewProps {
  /** Files are being dragged over the window. */
  readonly isOver: boolean;
}

export function App({ store, controller }: { store: Store; controller: Controller }): VNode {
  const state = useStore(store);
  const step = stepOf(state);
  const main = useFocusOnStep(step);
  const isBusy = step === "run" || state.opening !== undefined;
  const isOver = useWindowDrop(isBusy ? undefined : (name, files) => void controller.open(name, files));
  const View = STEP_VIEWS[step];
  return (
    <>
      <Header
        engine={state.engine}
        onHome={() => {
          controller.go("start");
        }}
      />
      <main ref={main} tabIndex={-1} class={`step-${step}`}>
        {state.problem && (
          <ProblemAlert
            problem={state.problem}
            keeps={step === "result"}
            onDismiss={() => {
              controller.dismissProblem();
            }}
          />
        )}
        {state.opening && step !== "start" && (
          <div class="opening-note">
            <p role="status">{openingWords(state.opening)}</p>
            <CancelOpening
              onCancel={() => {
                controller.cancelOpening();
              }}
            />
          </div>
        )}
        <View state={state} controller={controller} isOver={isOver} />
        {isOver && step !== "start" && <p class="drop-cover">Drop to open these images</p>}
      </main>
      <footer>
        <p>Your images never leave this computer: everything is computed in your browser.</p>
      </footer>
    </>
  );
}

const STEP_VIEWS: Readonly<Record<Step, (props: StepProps) => VNode | null>> = {
  start: StartView,
  setup: SetupView,
  run: RunView,
  result: ResultView,
};

interface ProblemAlertProps {
  readonly problem: Problem;
  /** Whether a result is shown below it, which it does not touch. */
  readonly keeps: boolean;
  readonly onDismiss: () => void;
}

/** What went wrong and what to do about it; screen readers announce it at once. */
function ProblemAlert({ problem, keeps, onDismiss }: ProblemAlertProps): VNode {
  const { message, remedy } = problem;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.scrollIntoView({ block: "nearest" });
  }, [problem]);
  return (
    <div ref={box} class="problem" role="alert" data-testid={TEST_IDS.problem}>
      <div>
        <p class="problem-message">{message}</p>
        {remedy !== undefined && <p>{remedy}</p>}
        {keeps && <p>Your result is still here.</p>}
      </div>
      <button type="button" onClick={onDismiss}>
        Dismiss
      </button>
    </div>
  );
}

/** Moves the focus of keyboards and screen readers to a new step, but not when the page opens. */
function useFocusOnStep(step: Step): { current: HTMLElement | null } {
  const main = useRef<HTMLElement>(null);
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    main.current?.focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }, [step]);
  return main;
}
