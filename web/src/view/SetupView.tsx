import type { VNode } from "preact";

import { TEST_IDS } from "../contract.ts";
import type { State } from "../state/state.ts";
import { LABELS, orderWords, sentence } from "../state/words.ts";
import type { ViewProps } from "./App.tsx";
import { CalibratePanel } from "./CalibratePanel.tsx";
import { DistanceOptions } from "./DistanceOptions.tsx";
import { FindingsPanel } from "./FindingsPanel.tsx";
import { PlaneList } from "./PlaneList.tsx";
import { StartOverButton } from "./StartOverButton.tsx";

/** The images in order of focus, their distances, the findings of the check, and the button that starts the run. */
export function SetupView({ state, controller }: ViewProps): VNode | null {
  const { stack, draft } = state;
  if (!stack) return null;
  const notes = stack.notes.map(sentence);
  return (
    <>
      <div class="title-row">
        <div>
          <h1>{stack.name}</h1>
          <p class="quiet">
            {draft.order.length} images, {stack.width} × {stack.height} pixels
          </p>
        </div>
        <StartOverButton controller={controller} />
      </div>
      <OrderRow state={state} controller={controller} />
      <PlaneList state={state} controller={controller} />
      <div class="setup-columns">
        <section class="card" aria-labelledby="distances-title">
          <h2 id="distances-title">Focus distances</h2>
          <DistanceOptions state={state} controller={controller} />
          <CalibratePanel
            stack={stack}
            draft={draft}
            onDistances={(next) => {
              void controller.edit(next);
            }}
          />
          {notes.length > 0 && (
            <ul class="notes">
              {notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          )}
        </section>
        <FindingsPanel check={state.check} />
      </div>
      <StartRun state={state} controller={controller} />
    </>
  );
}

/** Says what is known of the order, with a button that reverses it. */
function OrderRow({ state, controller }: ViewProps): VNode {
  const { title, words } = orderWords(state);
  return (
    <div class="order">
      <p>
        <strong>{title}.</strong> <span class="quiet">{words}</span>
      </p>
      <button type="button" data-testid={TEST_IDS.turn} title="Reverse the order of the images" onClick={() => void controller.turnStack()}>
        Nearest first <span aria-hidden="true">⇄</span>
        <span class="visually-hidden">: reverse the order</span>
      </button>
    </div>
  );
}

function StartRun({ state, controller }: ViewProps): VNode {
  const reason = whyNot(state);
  return (
    <div class="start-run sticky-bar">
      <label class="tick">
        <input
          type="checkbox"
          checked={state.align}
          onChange={({ currentTarget }) => {
            controller.setAlign(currentTarget.checked);
          }}
        />
        {LABELS.align}
      </label>
      <button
        type="button"
        class="primary large"
        data-testid={TEST_IDS.run}
        disabled={reason !== undefined}
        aria-describedby={reason === undefined ? undefined : "run-reason"}
        onClick={() => {
          void controller.run();
        }}
      >
        Find depth
      </button>
      {reason !== undefined && (
        <p id="run-reason" class="quiet">
          {reason}
        </p>
      )}
    </div>
  );
}

/** Why a run cannot start. It may start while the network is still loading: the run waits for it. */
function whyNot({ engine, check, draftProblem, draft }: State): string | undefined {
  if (engine.status === "failed") return "The model could not be loaded, so depth cannot be computed.";
  if (draftProblem) return "Correct the distances first.";
  const isUnfinished = draft.unit !== "index" && draft.order.some((frame) => (draft.texts[frame] ?? "").trim() === "");
  if (isUnfinished) return `Enter a distance for every image, or choose “${LABELS.noDistances}”.`;
  if (check.status === "done" && check.findings.some(({ severity }) => severity === "error"))
    return "The check found a problem that must be fixed first.";
  return undefined;
}
