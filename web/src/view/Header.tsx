import type { VNode } from "preact";

import { TEST_IDS } from "../contract.ts";
import type { EngineState } from "../state/state.ts";
import { engineWords, shareLoaded } from "../state/words.ts";

/** The name, and the status of the network. */
export function Header({ engine, onHome }: { engine: EngineState; onHome: () => void }): VNode {
  return (
    <header>
      <a
        class="brand"
        href="./"
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          onHome();
        }}
      >
        <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
          <circle class="ring-near" cx="13" cy="16" r="9.5" />
          <circle class="ring-far" cx="19" cy="16" r="9.5" />
        </svg>
        DualFocus
      </a>
      <EngineStatus engine={engine} />
    </header>
  );
}

function EngineStatus({ engine }: { engine: EngineState }): VNode {
  const progress = engine.status === "loading" ? engine.progress : undefined;
  const ready = engine.status === "ready" ? { "data-device": engine.device, "data-threads": engine.threads } : {};
  return (
    <details class="engine" data-testid={TEST_IDS.engine} data-status={engine.status} {...ready}>
      <summary>
        <span class={`lamp lamp-${engine.status}`} aria-hidden="true" />
        <span role="status">{engineWords(engine)}</span>
        {engine.status !== "loading" && <span class="why">why?</span>}
        {progress && <progress aria-label="Loading" max={1} value={shareLoaded(progress)} />}
      </summary>
      <p>{engineDetail(engine)}</p>
    </details>
  );
}

function engineDetail(engine: EngineState): string {
  switch (engine.status) {
    case "loading":
      return "The model is downloaded once; your browser then keeps it.";
    case "ready":
      return engine.reason;
    case "failed":
      return [engine.problem.message, engine.problem.remedy].filter(Boolean).join(" ");
  }
}
