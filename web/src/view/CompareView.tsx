import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { distanceTexts } from "../../../src/stack/quantity.ts";
import { TEST_IDS, type ViewResult } from "../contract.ts";
import { depthSource, imageSource, type PictureSource } from "../paint.ts";
import { UNIT_SYMBOLS } from "../state/distances.ts";
import { fullRange, type Look } from "../state/look.ts";
import type { Place } from "../state/viewport.ts";
import { Choice } from "./fields.tsx";
import { Picture } from "./Picture.tsx";
import type { ResultProps } from "./ResultView.tsx";
import { ZoomFrame, Zoomed, zoomWords } from "./ZoomFrame.tsx";

type After = "picture" | "depth";

const AFTERS: readonly (readonly [After, string])[] = [
  ["picture", "All in focus"],
  ["depth", "Depth"],
];

/** One of the photographs on the left, the result on the right. */
export function CompareView({ result: view, state, controller }: ResultProps): VNode {
  const [plane, setPlane] = useState(Math.floor(view.planes.length / 2));
  const [after, setAfter] = useState<After>("picture");
  const [share, setShare] = useState(50);
  const { look } = state;
  const { viewport } = look;
  const before = usePlanePicture(plane, view.result.profile, controller);
  const made = useMemo(() => sourceAfter(view, after, look), [view, after, look.map, look.flip, look.range]);
  const moveLine = ({ x }: Place): void => {
    setShare(100 * Math.min(Math.max(x, 0), 1));
  };
  return (
    <div class="compare-view">
      <ZoomFrame
        size={view.result.depth}
        viewport={viewport}
        onViewport={(next) => {
          controller.setLook({ viewport: next });
        }}
        stage={zoomWords("Before and after")}
        onTap={moveLine}
        onDrag={moveLine}
        overlay={<CompareLine share={share} onShare={setShare} />}
      >
        {made && (
          <Zoomed viewport={viewport}>
            <Picture source={made} viewport={viewport} label={after === "picture" ? "All-in-focus image" : "Depth"} />
          </Zoomed>
        )}
        {before && (
          <div class="compare-before" style={{ clipPath: `inset(0 ${100 - share}% 0 0)` }}>
            <Zoomed viewport={viewport}>
              <Picture source={before} viewport={viewport} label={`Photograph ${plane + 1}`} />
            </Zoomed>
          </div>
        )}
      </ZoomFrame>
      <div class="controls">
        <Choice label="Before" value={plane} choices={planeTitles(view.planes).map((title, n) => [n, title])} onChange={setPlane} />
        <Choice label="After" value={after} choices={AFTERS} onChange={setAfter} />
      </div>
    </div>
  );
}

/** The line between the two: a slider whose handle lies on it. */
function CompareLine({ share, onShare }: { share: number; onShare: (share: number) => void }): VNode {
  return (
    <>
      <span class="compare-line" aria-hidden="true" style={{ left: `${share}%` }} />
      <input
        type="range"
        class="compare-slider"
        min={0}
        max={100}
        step="any"
        value={share}
        aria-label="How much of the photograph is shown"
        data-testid={TEST_IDS.compareSlider}
        onInput={({ currentTarget }) => {
          onShare(Number(currentTarget.value));
        }}
      />
    </>
  );
}

function planeTitles(planes: ViewResult["planes"]): string[] {
  const texts = distanceTexts(planes.map(({ value }) => value));
  return planes.map(({ unit }, n) => (unit === "index" ? `Image ${n + 1}` : `Image ${n + 1}, focus at ${texts[n]} ${UNIT_SYMBOLS[unit]}`));
}

function sourceAfter({ result }: ViewResult, after: After, { map, flip, range }: Look): PictureSource | undefined {
  if (after === "depth") return depthSource(result, { range: range ?? fullRange(result), map, flip });
  return result.allInFocus && imageSource(result.allInFocus, result.profile);
}

/** The photograph in working size, once it is loaded. */
function usePlanePicture(plane: number, profile: Uint8Array | undefined, controller: ResultProps["controller"]): PictureSource | undefined {
  const [source, setSource] = useState<PictureSource>();
  useEffect(() => {
    let isWanted = true;
    void controller.picture(plane).then((image) => {
      if (isWanted) setSource(imageSource(image, profile));
    });
    return () => {
      isWanted = false;
    };
  }, [plane, profile, controller]);
  return source;
}
