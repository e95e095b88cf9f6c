import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import { paintValues } from "../paint.ts";
import { ValueLegend } from "./Legend.tsx";
import { PaintedCanvas } from "./PaintedCanvas.tsx";
import type { ResultProps } from "./ResultView.tsx";

/** The network's confidence. */
export function ConfidenceView({ result: { result } }: ResultProps): VNode {
  const { confidence, depth } = result;
  const painting = useMemo(() => {
    const values = (confidence ?? new Float32Array(depth.values.length)).map((value, i) => (depth.valid[i] ? value : 0));
    return paintValues({ width: depth.width, height: depth.height, values });
  }, [confidence, depth]);
  return (
    <figure>
      <PaintedCanvas painting={painting} label="Confidence: yellow is sure, dark is unsure" />
      <ValueLegend range={[0, 100]} unit="%" />
      <figcaption class="quiet">
        100 % is certain; at 50 % the expected error is half a plane. Dark areas have no texture to focus on, or lie in front of the first
        plane or behind the last.
      </figcaption>
    </figure>
  );
}
