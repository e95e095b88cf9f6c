import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import { TEST_IDS } from "../contract.ts";
import { paintDepth } from "../../../src/output/colorPicture.ts";
import { opaque } from "../paint.ts";
import { stageWords } from "../state/words.ts";
import type { FirstLook } from "../worker/protocol.ts";
import type { ViewProps } from "./App.tsx";
import { PaintedCanvas } from "./PaintedCanvas.tsx";
import { ProgressBar } from "./ProgressBar.tsx";

/** The progress of a run with a button to cancel it, always in view; below it a first look at the depth, or the images until there is one. */
export function RunView({ state: { run, stack, thumbnails, firstLook }, controller }: ViewProps): VNode | null {
  if (!run) return null;
  return (
    <section class="run" aria-labelledby="run-title">
      <div class="run-status card">
        <h1 id="run-title">{stack?.name ?? "Opening the images"}</h1>
        <p role="status">{stageWords(run)} …</p>
        <ProgressBar progress={run} label="Progress" testId={TEST_IDS.progress} />
        <button
          type="button"
          data-testid={TEST_IDS.cancel}
          onClick={() => {
            controller.cancel();
          }}
        >
          Cancel
        </button>
      </div>
      {firstLook ? (
        <FirstLookFigure look={firstLook} />
      ) : (
        <div class="run-pictures" aria-hidden="true">
          {stack?.planes.map(({ frame }) => thumbnails[frame] !== undefined && <img key={frame} src={thumbnails[frame]} alt="" />)}
        </div>
      )}
    </section>
  );
}

function FirstLookFigure({ look }: { look: FirstLook }): VNode {
  const painting = useMemo(() => opaque(paintDepth(look, { map: "turbo" })), [look]);
  return (
    <figure class="first-look" data-testid={TEST_IDS.firstLook} data-seconds={look.seconds.toFixed(2)}>
      <PaintedCanvas painting={painting} label="First look at the depth: red is near, blue is far" />
      <figcaption class="quiet">A first look, in a quarter of the size. The full result will take its place.</figcaption>
    </figure>
  );
}
