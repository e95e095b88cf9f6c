import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import { valueSource } from "../paint.ts";
import { ValueLegend } from "./Legend.tsx";
import { Picture } from "./Picture.tsx";
import type { ResultProps } from "./ResultView.tsx";
import { ZoomFrame, Zoomed, zoomWords } from "./ZoomFrame.tsx";

/** The network's confidence. */
export function ConfidenceView({ result: { result }, state, controller }: ResultProps): VNode {
  const { confidence, depth } = result;
  const { viewport } = state.look;
  const source = useMemo(() => {
    const values = (confidence ?? new Float32Array(depth.values.length)).map((value, i) => (depth.valid[i] ? value : 0));
    return valueSource({ width: depth.width, height: depth.height, values });
  }, [confidence, depth]);
  return (
    <figure>
      <ZoomFrame
        size={depth}
        viewport={viewport}
        onViewport={(next) => {
          controller.setLook({ viewport: next });
        }}
        stage={zoomWords("Confidence")}
      >
        <Zoomed viewport={viewport}>
          <Picture source={source} viewport={viewport} label="Confidence: yellow is sure, dark is unsure" />
        </Zoomed>
      </ZoomFrame>
      <ValueLegend range={[0, 100]} unit="%" />
      <figcaption class="quiet">
        100 % is certain; at 50 % the expected error is half a plane, at 20 % a whole one. Dark areas have no texture to focus on, or the
        images and their surroundings contradict the depth.
      </figcaption>
    </figure>
  );
}
