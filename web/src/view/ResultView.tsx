import type { VNode } from "preact";
import { useRef } from "preact/hooks";

import { TEST_IDS, VIEWS, type View, type ViewResult } from "../contract.ts";
import { baseName } from "../../../src/stack/stackFormat.ts";
import { secondsText } from "../state/words.ts";
import type { ViewProps } from "./App.tsx";
import { CompareView } from "./CompareView.tsx";
import { ConfidenceView } from "./ConfidenceView.tsx";
import { DepthView } from "./DepthView.tsx";
import { DownloadsView } from "./DownloadsView.tsx";
import { FiguresView } from "./FiguresView.tsx";
import { FindingsList } from "./FindingsPanel.tsx";
import { PictureView } from "./PictureView.tsx";
import { RefocusView } from "./RefocusView.tsx";
import { SceneView } from "./SceneView.tsx";
import { StartOverButton } from "./StartOverButton.tsx";

/** Properties of a view of the result. */
export interface ResultProps extends ViewProps {
  readonly result: ViewResult;
}

const TITLES: Readonly<Record<View, string>> = {
  depth: "Depth",
  picture: "All in focus",
  compare: "Before and after",
  confidence: "Confidence",
  refocus: "Refocus",
  scene: "3-D",
  figures: "Inside the network",
  downloads: "Downloads",
};

const PANELS: Readonly<Record<View, (props: ResultProps) => VNode>> = {
  depth: DepthView,
  picture: PictureView,
  compare: CompareView,
  confidence: ConfidenceView,
  refocus: RefocusView,
  scene: SceneView,
  figures: FiguresView,
  downloads: DownloadsView,
};

export function ResultView({ state, controller }: ViewProps): VNode | null {
  const { result, view, stack, resultStack } = state;
  if (!result) return null;
  const Panel = PANELS[view];
  const canEdit = stack !== undefined && stack.id === resultStack;
  return (
    <div class="result" data-testid={TEST_IDS.result}>
      <div class="title-row result-title">
        <div>
          <h1>{result.name}</h1>
          <p class="quiet">{factsOf(result)}</p>
        </div>
        <div class="buttons">
          {result.result.unit === "index" && <TurnButton result={result} controller={controller} />}
          {canEdit && (
            <button
              type="button"
              onClick={() => {
                controller.go("setup");
              }}
            >
              Edit images
            </button>
          )}
          <StartOverButton controller={controller} />
        </div>
      </div>
      <Tabs
        view={view}
        onView={(next) => {
          controller.show(next);
        }}
      />
      <div role="tabpanel" id={`panel-${view}`} aria-labelledby={`tab-${view}`} class={`panel panel-${view}`}>
        <Panel key={view} state={state} controller={controller} result={result} />
      </div>
      <Remarks result={result} />
    </div>
  );
}

/** Depth as a plane index may be inside out: nothing but the order of the files says which end is near. */
function TurnButton({ result, controller }: Pick<ViewProps, "controller"> & { result: ViewResult }): VNode {
  const [first, last] = [result.planes[0], result.planes.at(-1)].map((plane) => baseName(plane?.file ?? ""));
  return (
    <button
      type="button"
      data-testid={TEST_IDS.turn}
      title={`${first} counts as the nearest, ${last} as the farthest; click to turn depth round`}
      onClick={() => void controller.turnResult()}
    >
      Nearest first <span aria-hidden="true">⇄</span>
      <span class="visually-hidden">: turn depth round</span>
    </button>
  );
}

function factsOf({ planes, result, summary, engine }: ViewResult): string {
  const { width, height } = result.depth;
  const where =
    engine.device === "webgpu"
      ? "on the graphics card"
      : `on the processor, ${engine.threads === 1 ? "one thread" : `${engine.threads} threads`}`;
  return `${planes.length} images, ${width} × ${height} pixels, ${secondsText(summary.seconds["total"] ?? 0)} ${where}`;
}

/** Arrow keys move between the tabs. */
function Tabs({ view, onView }: { view: View; onView: (view: View) => void }): VNode {
  const list = useRef<HTMLDivElement>(null);
  const go = (event: KeyboardEvent): void => {
    const at = VIEWS.indexOf(view);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: VIEWS.length - 1 }[event.key];
    const next = to === undefined ? undefined : VIEWS[(to + VIEWS.length) % VIEWS.length];
    if (!next) return;
    event.preventDefault();
    onView(next);
    list.current?.querySelector<HTMLButtonElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Result" ref={list} onKeyDown={go}>
      {VIEWS.map((each) => (
        <button
          key={each}
          type="button"
          role="tab"
          id={`tab-${each}`}
          aria-selected={each === view}
          aria-controls={each === view ? `panel-${each}` : undefined}
          tabIndex={each === view ? 0 : -1}
          data-testid={`${TEST_IDS.tab}${each}`}
          onClick={() => {
            onView(each);
          }}
        >
          <span data-text={TITLES[each]}>{TITLES[each]}</span>
        </button>
      ))}
    </div>
  );
}

/** The findings of the check that affect the result. */
function Remarks({ result: { findings } }: { result: ViewResult }): VNode | null {
  const worth = findings.filter(({ severity }) => severity !== "note");
  if (worth.length === 0) return null;
  return (
    <section class="card remarks" aria-labelledby="remarks-title">
      <h2 id="remarks-title">About the images</h2>
      <FindingsList findings={worth} />
    </section>
  );
}
