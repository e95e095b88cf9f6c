import type { VNode } from "preact";

import { TEST_IDS } from "../contract.ts";
import { SOURCE_WORDS, UNIT_SYMBOLS, type Draft } from "../state/distances.ts";
import { baseName } from "../../../src/stack/stackFormat.ts";
import type { OpenedPlane } from "../worker/protocol.ts";
import type { ViewProps } from "./App.tsx";
import { DecimalInput } from "./fields.tsx";

/** One card per image, nearest focus first, with a field for its distance. */
export function PlaneList({ state, controller }: ViewProps): VNode {
  return (
    <ol class="planes" data-testid={TEST_IDS.planes}>
      {state.stack?.planes.map((plane, n) => (
        <PlaneCard key={plane.frame} plane={plane} n={n} state={state} controller={controller} />
      ))}
    </ol>
  );
}

function PlaneCard({ plane, n, state, controller }: ViewProps & { plane: OpenedPlane; n: number }): VNode {
  const { draft, thumbnails } = state;
  const { frame, file, source } = plane;
  const url = thumbnails[frame];
  const isKnown = draft.unit !== "index";
  const changed = (text: string): Draft => ({ ...draft, texts: { ...draft.texts, [frame]: text } });
  return (
    <li class="plane">
      {url === undefined ? (
        <div class="thumbnail is-empty" />
      ) : (
        <img class="thumbnail" src={url} alt={`Image ${n + 1}: ${baseName(file)}`} />
      )}
      <p class="plane-name" title={file}>
        <span class="plane-number">{n + 1}</span> {baseName(file)}
      </p>
      {isKnown ? (
        <label class="distance">
          <span class="visually-hidden">Focus distance of image {n + 1}</span>
          <DecimalInput
            value={draft.texts[frame] ?? ""}
            testId={`${TEST_IDS.distance}${n}`}
            onInput={(text) => {
              controller.type(changed(text));
            }}
            onChange={(text) => void controller.edit(changed(text))}
          />
          <span class="unit">{UNIT_SYMBOLS[draft.unit]}</span>
        </label>
      ) : (
        <p class="distance-unknown">plane {n + 1}</p>
      )}
      <p class="plane-source">{isKnown ? SOURCE_WORDS[source] : "distance unknown"}</p>
    </li>
  );
}
