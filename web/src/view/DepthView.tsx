import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { Size } from "../../../src/image/image.ts";
import { TEST_IDS } from "../contract.ts";
import { depthSource } from "../paint.ts";
import { IS_STANDALONE } from "../standalone/isStandalone.ts";
import { movePixel, type Pixel } from "../state/curve.ts";
import { fullRange, hatchedPixels, percentText } from "../state/look.ts";
import type { MeasuredLine } from "../state/measure.ts";
import { follow, middleOf, pixelInFrame, type Place } from "../state/viewport.ts";
import { CalibratePoints } from "./CalibratePoints.tsx";
import { ColorPanel } from "./ColorPanel.tsx";
import { CurvePanel } from "./CurvePanel.tsx";
import { DepthLegend } from "./Legend.tsx";
import { LineOverlay, ProfilePanel } from "./ProfilePanel.tsx";
import { Picture } from "./Picture.tsx";
import { PointerNote } from "./PointerNote.tsx";
import { Readout } from "./Readout.tsx";
import type { ResultProps } from "./ResultView.tsx";
import { ScaleBar } from "./ScaleBar.tsx";
import { ZoomFrame, Zoomed } from "./ZoomFrame.tsx";

/** The depth map with its legend, the values of the pixel under the pointer, and a line to measure with. */
export function DepthView({ result: view, state, controller }: ResultProps): VNode {
  const { result } = view;
  const { depth } = result;
  const { viewport, map, flip, leastConfidence, hatchFilled } = state.look;
  const full = useMemo(() => fullRange(result), [result]);
  const range = state.look.range ?? full;
  const hatched = useMemo(() => hatchedPixels(result, { leastConfidence, hatchFilled }), [result, leastConfidence, hatchFilled]);
  const shares = useMemo(() => ({ hatched: shareOf(hatched), filled: shareOf(result.filled) }), [hatched, result]);
  const source = useMemo(() => depthSource(result, { range, map, flip, hatched }), [result, range, map, flip, hatched]);
  const [chosen, setChosen] = useState<Pixel>({ x: Math.floor(depth.width / 2), y: Math.floor(depth.height / 2) });
  const [pointer, setPointer] = useState<Place>();
  const hovered = pointer && pixelInFrame(viewport, pointer, depth);
  const [line, setLine] = useState<Partial<MeasuredLine>>();
  const choose = (pixel: Pixel): void => {
    setChosen(pixel);
    if (line) setLine(line.from && !line.to ? { ...line, to: pixel } : { from: pixel });
  };
  return (
    <div class="with-side">
      <figure>
        <ZoomFrame
          size={depth}
          viewport={viewport}
          onViewport={(next) => {
            controller.setLook({ viewport: next });
          }}
          stage={pixelSlider(chosen, depth)}
          onTap={(place) => {
            choose(pixelInFrame(viewport, place, depth));
          }}
          onHover={setPointer}
          onKey={(event) => {
            const next = movePixel(chosen, event.key, { size: depth, far: event.shiftKey, zoom: viewport.zoom });
            if (event.key === "Enter" && line) choose(chosen);
            else if (next) {
              setChosen(next);
              controller.setLook({ viewport: follow(viewport, middleOf(next, depth)) });
            } else return false;
            event.preventDefault();
            return true;
          }}
          overlay={
            <>
              <ScaleBar result={result} viewport={viewport} />
              {pointer && hovered && <PointerNote view={view} pixel={hovered} place={pointer} largest={full[1]} />}
            </>
          }
        >
          <Zoomed viewport={viewport}>
            <Picture source={source} viewport={viewport} label="Depth in colour" testId={TEST_IDS.depthCanvas} />
            {line && <LineOverlay line={line} size={depth} />}
            <span class="cross" aria-hidden="true" style={percent(middleOf(chosen, depth))} />
          </Zoomed>
        </ZoomFrame>
        <DepthLegend
          result={result}
          colors={{ range, map, flip }}
          full={full}
          onRange={(next) => {
            controller.setLook({ range: next });
          }}
        />
        <Readout view={view} pixel={hovered ?? chosen} largest={full[1]} />
        <Doubt {...shares} />
      </figure>
      <aside class="side">
        <CurvePanel view={view} pixel={chosen} />
        <ProfilePanel result={result} line={line} onLine={setLine} />
        <ColorPanel result={result} name={view.name} look={state.look} controller={controller} />
        {result.unit === "index" && view.focusChange && !IS_STANDALONE && (
          <CalibratePoints view={view} pixel={chosen} state={state} controller={controller} />
        )}
      </aside>
    </div>
  );
}

const pixelSlider = ({ x, y }: Pixel, { width, height }: Size) =>
  ({
    role: "slider",
    "aria-label": "Selected pixel; arrow keys move it, with Shift ten times as far; plus and minus zoom",
    "aria-valuemin": 0,
    "aria-valuemax": width * height - 1,
    "aria-valuenow": y * width + x,
    "aria-valuetext": `column ${x + 1}, row ${y + 1}`,
  }) as const;

const percent = ({ x, y }: { x: number; y: number }): { left: string; top: string } => ({ left: `${100 * x}%`, top: `${100 * y}%` });

const shareOf = (mask: Uint8Array | undefined): number => (mask ? mask.reduce((sum, is) => sum + is, 0) / mask.length : 0);

/** The shares of the picture that are hatched and filled. */
function Doubt({ hatched, filled }: { hatched: number; filled: number }): VNode | null {
  if (hatched === 0 && filled === 0) return null;
  return (
    <p class="doubt">
      <span class="hatch" aria-hidden="true" /> Hatched: {percentText(hatched)} of the image, where the expected error is larger than the
      limit or depth was filled in.{" "}
      {filled > 0 && `Filled in from around: ${percentText(filled)}, where the images show too little to measure.`}
    </p>
  );
}
