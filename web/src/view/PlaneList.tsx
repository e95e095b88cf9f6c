import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { baseName } from "../../../src/stack/stackFormat.ts";
import { TEST_IDS } from "../contract.ts";
import { SOURCE_WORDS, UNIT_SYMBOLS, type Draft } from "../state/distances.ts";
import { entered } from "../state/enteredDistances.ts";
import { shownDraft } from "../state/state.ts";
import type { OpenedPlane } from "../worker/protocol.ts";
import type { ViewProps } from "./App.tsx";
import { DecimalInput } from "./fields.tsx";
import { useCardDrag, type CardDrag } from "./useCardDrag.ts";

/** Depth needs a difference between images. */
const LEAST_IMAGES = 2;

/** One card per image in the order of focus, with a field for its distance, a handle to move it, and a button to leave it out. */
export function PlaneList({ state, controller }: ViewProps): VNode {
  const { stack } = state;
  const draft = shownDraft(state);
  const [told, setTold] = useState("");
  const nameOf = (frame: number): string => baseName(fileOf(state, frame));
  const move = (frame: number, to: number): void => {
    if (to < 0 || to >= draft.order.length || draft.order[to] === frame) return;
    void controller.move(frame, to);
    setTold(`${nameOf(frame)} is now image ${to + 1} of ${draft.order.length}`);
  };
  const drag = useCardDrag(draft.order, move);
  const list = useRef<HTMLOListElement>(null);
  const held = useRef<number | undefined>(undefined);
  useEffect(() => {
    // Browsers take the focus away from an element that is moved.
    if (held.current !== undefined) list.current?.querySelector<HTMLElement>(`[data-frame="${held.current}"] .handle`)?.focus();
    held.current = undefined;
  }, [draft.order]);
  const moveByKey = (frame: number, to: number): void => {
    held.current = frame;
    move(frame, to);
  };
  return (
    <>
      <ol ref={list} class="planes" data-testid={TEST_IDS.planes}>
        {drag.order.map((frame, n) => (
          <PlaneCard
            key={frame}
            plane={
              stack?.planes.find((plane) => plane.frame === frame) ?? { frame, file: fileOf(state, frame), value: NaN, source: "argument" }
            }
            n={n}
            drag={drag}
            onMove={moveByKey}
            state={state}
            controller={controller}
          />
        ))}
      </ol>
      <p class="visually-hidden" role="status">
        {told}
      </p>
      <LeftOut state={state} controller={controller} />
    </>
  );
}

const fileOf = ({ stack }: ViewProps["state"], frame: number): string =>
  [...(stack?.planes ?? []), ...(stack?.leftOut ?? [])].find((each) => each.frame === frame)?.file ?? "";

interface PlaneCardProps extends ViewProps {
  readonly plane: OpenedPlane;
  readonly n: number;
  readonly drag: CardDrag;
  readonly onMove: (frame: number, to: number) => void;
}

function PlaneCard({ plane, n, drag, onMove, state, controller }: PlaneCardProps): VNode {
  const { draft, thumbnails, check } = state;
  const { frame, file, source } = plane;
  const url = thumbnails[frame];
  const isBroken = check.status === "failed" && check.problem.file === file;
  const isKnown = draft.unit !== "index";
  const changed = (text: string): Draft => ({ ...draft, texts: { ...draft.texts, [frame]: text } });
  return (
    <li class={`plane${drag.frame === frame ? " is-dragged" : ""}${isBroken ? " is-broken" : ""}`} data-frame={frame}>
      <div class="plane-picture" onPointerDown={drag.start(frame, "mouse")}>
        {url === undefined ? (
          <div class="thumbnail is-empty">{isBroken && "Cannot be read"}</div>
        ) : (
          <img class="thumbnail" src={url} draggable={false} alt={`Image ${n + 1}: ${baseName(file)}`} />
        )}
      </div>
      <div class="plane-tools">
        <button
          type="button"
          class="handle"
          title="Drag to another place, or use the arrow keys"
          aria-label={`Move image ${n + 1}, ${baseName(file)}: arrow keys`}
          data-testid={`${TEST_IDS.handle}${n}`}
          onPointerDown={drag.start(frame, "any")}
          onKeyDown={(event) => {
            const to = { ArrowLeft: n - 1, ArrowUp: n - 1, ArrowRight: n + 1, ArrowDown: n + 1, Home: 0, End: draft.order.length - 1 }[
              event.key
            ];
            if (to === undefined) return;
            event.preventDefault();
            onMove(frame, to);
          }}
        >
          <Grip />
        </button>
        <button
          type="button"
          class="leave-out"
          title="Leave this image out"
          aria-label={`Leave out image ${n + 1}, ${baseName(file)}`}
          disabled={draft.order.length <= LEAST_IMAGES}
          data-testid={`${TEST_IDS.leaveOut}${n}`}
          onClick={() => void controller.leaveOut(frame)}
        >
          <span aria-hidden="true">×</span>
        </button>
      </div>
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
            onChange={(text) => void controller.edit(entered(draft, frame, text))}
          />
          <span class="unit">{UNIT_SYMBOLS[draft.unit]}</span>
        </label>
      ) : null}
      <p class="plane-source">{isKnown ? SOURCE_WORDS[source] : "distance unknown"}</p>
    </li>
  );
}

function Grip(): VNode {
  return (
    <svg viewBox="0 0 12 18" width="12" height="18" aria-hidden="true">
      {[3, 9].flatMap((x) => [3, 9, 15].map((y) => <circle key={`${x} ${y}`} cx={x} cy={y} r="1.6" />))}
    </svg>
  );
}

function LeftOut({ state, controller }: ViewProps): VNode | null {
  const { draft, thumbnails } = state;
  if (draft.leftOut.length === 0) return null;
  return (
    <section class="left-out" aria-labelledby="left-out-title">
      <h2 id="left-out-title">Left out</h2>
      <ul>
        {draft.leftOut.map((frame) => (
          <li key={frame}>
            {thumbnails[frame] !== undefined && <img src={thumbnails[frame]} alt="" />}
            <span>{baseName(fileOf(state, frame))}</span>
            <button
              type="button"
              aria-label={`Put back ${baseName(fileOf(state, frame))}`}
              data-testid={`${TEST_IDS.putBack}${frame}`}
              onClick={() => void controller.putBack(frame)}
            >
              Put back
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
