import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { Controller } from "../controller.ts";
import { stepOf, type State, type Step } from "../state/state.ts";
import { useStore, type Store } from "../store.ts";
import { Header } from "./Header.tsx";
import { ProblemAlert } from "./ProblemAlert.tsx";
import { ResultView } from "./ResultView.tsx";
import { RunView } from "./RunView.tsx";
import { SetupView } from "./SetupView.tsx";
import { StartView } from "./StartView.tsx";

/** What every view is given. */
export interface ViewProps {
  readonly state: State;
  readonly controller: Controller;
}

export function App({ store, controller }: { store: Store; controller: Controller }): VNode {
  const state = useStore(store);
  const step = stepOf(state);
  const main = useFocusOnStep(step);
  const View = STEP_VIEWS[step];
  return (
    <>
      <Header engine={state.engine} />
      <main ref={main} tabIndex={-1} class={`step-${step}`}>
        {state.problem && <ProblemAlert problem={state.problem} />}
        <View state={state} controller={controller} />
      </main>
      <footer>
        <p>Your pictures stay on this machine: everything is computed here, in your browser.</p>
      </footer>
    </>
  );
}

const STEP_VIEWS: Readonly<Record<Step, (props: ViewProps) => VNode | null>> = {
  start: StartView,
  setup: SetupView,
  run: RunView,
  result: ResultView,
};

/** Keyboards and screen readers go on where the new step begins; not when the page opens. */
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
