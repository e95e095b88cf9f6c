import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";

import { validRange } from "../../../src/output/result.ts";
import { TEST_IDS } from "../contract.ts";
import { paintDepthMap } from "../paint.ts";
import type { Pixel } from "../state/curve.ts";
import { CalibratePoints } from "./CalibratePoints.tsx";
import { CurvePanel } from "./CurvePanel.tsx";
import { DepthLegend } from "./Legend.tsx";
import { PaintedCanvas } from "./PaintedCanvas.tsx";
import { PixelPicker } from "./PixelPicker.tsx";
import { Readout } from "./Readout.tsx";
import type { ResultProps } from "./ResultView.tsx";

/** The depth map with its legend and the values of the pixel under the pointer. */
export function DepthView({ result: view, state, controller }: ResultProps): VNode {
  const { result } = view;
  const { depth } = result;
  const range = useMemo(() => result.range ?? validRange(depth), [result]);
  const painting = useMemo(() => paintDepthMap({ depth, range }), [depth, range]);
  const [chosen, setChosen] = useState<Pixel>({ x: Math.floor(depth.width / 2), y: Math.floor(depth.height / 2) });
  const [hovered, setHovered] = useState<Pixel>();
  return (
    <div class="with-side">
      <figure>
        <PixelPicker size={depth} chosen={chosen} onChoose={setChosen} onHover={setHovered}>
          <PaintedCanvas painting={painting} label="Depth in colour: red is near, blue is far" testId={TEST_IDS.depthCanvas} />
        </PixelPicker>
        <DepthLegend result={result} range={range} />
        <Readout view={view} pixel={hovered ?? chosen} largest={range[1]} />
      </figure>
      <aside class="side">
        <CurvePanel view={view} pixel={chosen} />
        {result.unit === "index" && <CalibratePoints view={view} pixel={chosen} state={state} controller={controller} />}
      </aside>
    </div>
  );
}
