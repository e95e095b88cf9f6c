import { render, type VNode } from "preact";
import { useState } from "preact/hooks";

import type { Image } from "../../../src/image/image.ts";
import { decodePageData, type PageData } from "../../../src/output/resultPage.ts";
import { TEST_IDS, type View, type ViewResult } from "../contract.ts";
import type { Controller } from "../controller.ts";
import { INITIAL, reduce, type Action } from "../state/state.ts";
import { createStore, useStore, type Store } from "../store.ts";
import { DepthView } from "../view/DepthView.tsx";
import { PictureView } from "../view/PictureView.tsx";
import { RefocusView } from "../view/RefocusView.tsx";
import type { ResultProps } from "../view/ResultView.tsx";
import { SceneView } from "../view/SceneView.tsx";

// The script of a self-contained page (src/output/resultPage.ts): the views of a result, its data from the page itself.

type Panel = readonly [View, string, (props: ResultProps) => VNode];

const PANELS: readonly [Panel, ...Panel[]] = [
  ["depth", "Depth", DepthView],
  ["picture", "All in focus", PictureView],
  ["refocus", "Refocus", RefocusView],
  ["scene", "3-D", SceneView],
];

function Viewer({ store, result, facts }: { store: Store; result: ViewResult; facts: string }): VNode {
  const state = useStore(store);
  const [view, setView] = useState<View>("depth");
  const controller = {
    setLook: (look) => {
      store.dispatch({ kind: "look", look });
    },
    picture: () => Promise.reject(new Error("the photographs are not part of this page")),
  } satisfies Partial<Controller> as unknown as Controller; // the views of a finished result need no more
  const [, , Panel] = PANELS.find(([each]) => each === view) ?? PANELS[0];
  return (
    <main data-testid={TEST_IDS.result}>
      <div class="title-row">
        <div>
          <h1>{result.name}</h1>
          <p class="quiet">{facts}</p>
        </div>
      </div>
      <nav class="tabs" aria-label="Result">
        {PANELS.map(([each, title]) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === view}
            data-testid={`${TEST_IDS.tab}${each}`}
            onClick={() => {
              setView(each);
            }}
          >
            {title}
          </button>
        ))}
      </nav>
      <div class={`panel panel-${view}`}>
        <Panel key={view} state={state} controller={controller} result={result} />
      </div>
    </main>
  );
}

/** The all-in-focus image, decoded by the browser. */
async function decodePicture(url: string): Promise<Image> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser cannot draw on a canvas");
  context.drawImage(image, 0, 0);
  const bytes = context.getImageData(0, 0, width, height).data;
  const data = Float32Array.from({ length: 3 * width * height }, (_, i) => (bytes[4 * Math.floor(i / 3) + (i % 3)] as number) / 255);
  return { width, height, channels: 3, data };
}

async function start(): Promise<void> {
  const [root, text] = [document.getElementById("app"), document.getElementById("data")?.textContent];
  if (!root || !text) throw new Error("this page is not whole");
  const data = JSON.parse(text) as PageData;
  const result = { ...decodePageData(data), allInFocus: await decodePicture(data.picture) };
  const { name, facts, focusDistances, focusChange } = data;
  // What the four views use of a result.
  const view = {
    name,
    result,
    focusDistances,
    focusChange,
    planes: Array.from({ length: data.planes }, () => ({})),
  } as unknown as ViewResult;
  const first: Action = { kind: "result", result: view, stack: undefined };
  render(<Viewer store={createStore(reduce(INITIAL, first))} result={view} facts={facts} />, root);
}

void start();
