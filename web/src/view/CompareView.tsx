import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { TEST_IDS, type ViewResult } from "../contract.ts";
import { paintDepthMap, paintImage, type Painting } from "../paint.ts";
import { numberText, UNIT_SYMBOLS } from "../state/distances.ts";
import { Choice } from "./fields.tsx";
import { PaintedCanvas } from "./PaintedCanvas.tsx";
import type { ResultProps } from "./ResultView.tsx";

type After = "picture" | "depth";

const AFTERS: readonly (readonly [After, string])[] = [
  ["picture", "All in focus"],
  ["depth", "Depth"],
];

/** One of the photographs on the left, the result on the right. */
export function CompareView({ result: view, controller }: ResultProps): VNode {
  const [plane, setPlane] = useState(Math.floor(view.planes.length / 2));
  const [after, setAfter] = useState<After>("picture");
  const [share, setShare] = useState(50);
  const before = usePlanePicture(plane, controller);
  const made = useMemo(() => paintAfter(view, after), [view, after]);
  return (
    <div class="compare-view">
      <div class="compare" style={{ "--aspect": view.result.depth.width / view.result.depth.height }}>
        {made && <PaintedCanvas painting={made} label={after === "picture" ? "All-in-focus image" : "Depth"} />}
        {before && (
          <div class="compare-before" style={{ clipPath: `inset(0 ${100 - share}% 0 0)` }}>
            <PaintedCanvas painting={before} label={`Photograph ${plane + 1}`} />
          </div>
        )}
        <span class="compare-line" aria-hidden="true" style={{ left: `${share}%` }} />
        <input
          type="range"
          class="compare-slider"
          min={0}
          max={100}
          value={share}
          aria-label="How much of the photograph is shown"
          data-testid={TEST_IDS.compareSlider}
          onInput={({ currentTarget }) => {
            setShare(Number(currentTarget.value));
          }}
        />
      </div>
      <div class="controls">
        <Choice label="Before" value={plane} choices={view.planes.map((each, n) => [n, planeTitle(each, n)])} onChange={setPlane} />
        <Choice label="After" value={after} choices={AFTERS} onChange={setAfter} />
      </div>
    </div>
  );
}

const planeTitle = ({ value, unit }: ViewResult["planes"][number], n: number): string =>
  unit === "index" ? `Image ${n + 1}` : `Image ${n + 1}, focus at ${numberText(Number(value.toPrecision(4)))} ${UNIT_SYMBOLS[unit]}`;

function paintAfter({ result }: ViewResult, after: After): Painting | undefined {
  if (after === "depth") return paintDepthMap(result);
  return result.allInFocus && paintImage(result.allInFocus);
}

/** The photograph in working size, once it is loaded. */
function usePlanePicture(plane: number, controller: ResultProps["controller"]): Painting | undefined {
  const [painting, setPainting] = useState<Painting>();
  useEffect(() => {
    let isWanted = true;
    void controller.picture(plane).then((image) => {
      if (isWanted) setPainting(paintImage(image));
    });
    return () => {
      isWanted = false;
    };
  }, [plane, controller]);
  return painting;
}
