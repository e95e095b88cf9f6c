import type { VNode } from "preact";

import { TEST_IDS } from "../contract.ts";
import { shareDone, stageWords } from "../state/words.ts";
import type { ViewProps } from "./App.tsx";

/** The progress of a run, and a button to cancel it. */
export function RunView({ state: { run, stack, engine, thumbnails }, controller }: ViewProps): VNode | null {
  if (!run) return null;
  const waits = engine.status === "loading" && run.stage === "check";
  const words = waits ? "Waiting for the model" : stageWords(run);
  const share = shareDone(run);
  return (
    <section class="run" aria-labelledby="run-title">
      <div class="run-pictures" aria-hidden="true">
        {stack?.planes.map(({ frame }) => thumbnails[frame] !== undefined && <img key={frame} src={thumbnails[frame]} alt="" />)}
      </div>
      <h1 id="run-title">{stack?.name}</h1>
      <p role="status">{words} …</p>
      <progress aria-label="Progress" max={1} value={share} data-testid={TEST_IDS.progress} />
      <p class="quiet">{Math.round(100 * share)} %</p>
      <button
        type="button"
        data-testid={TEST_IDS.cancel}
        onClick={() => {
          controller.cancel();
        }}
      >
        Cancel
      </button>
    </section>
  );
}
