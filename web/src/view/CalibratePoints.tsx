import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { numberText } from "../../../src/stack/quantity.ts";
import type { ViewResult } from "../contract.ts";
import { calibrate, type KnownPoint, type Spacing } from "../state/calibration.ts";
import type { Pixel } from "../state/curve.ts";
import type { ViewProps } from "./App.tsx";
import { SpacingChoice } from "./CalibratePanel.tsx";
import { DecimalInput, FieldProblem } from "./fields.tsx";

interface CalibratePointsProps extends ViewProps {
  readonly view: ViewResult;
  readonly pixel: Pixel;
}

/** Converts the plane index to metres with two points of known distance. */
export function CalibratePoints({ view, pixel, state, controller }: CalibratePointsProps): VNode {
  const [points, setPoints] = useState<readonly KnownPoint[]>([]);
  const [text, setText] = useState("");
  const [spacing, setSpacing] = useState<Spacing>("dioptres");
  const [problem, setProblem] = useState<string>();
  const { depth } = view.result;
  const plane = depth.values[pixel.y * depth.width + pixel.x] as number;
  const add = (): void => {
    const distance = Number(text.replace(",", "."));
    setProblem(distance > 0 ? undefined : "Enter the distance of this point in metres, such as 0.85.");
    if (!(distance > 0)) return;
    setText("");
    setPoints([...points, { plane, distance }].slice(-2));
  };
  const apply = async (known: readonly [KnownPoint, KnownPoint]): Promise<void> => {
    const planes = state.stack?.planes ?? [];
    const found = calibrate(known, { planes: planes.length, spacing });
    if ("problem" in found) {
      setProblem(found.problem);
      return;
    }
    const texts = planes.map(({ frame }, n): [number, string] => [frame, numberText(found.distances[n] as number)]);
    await controller.edit({ ...state.draft, unit: "m", texts: Object.fromEntries(texts) });
    await controller.run();
  };
  const [one, two] = points;
  return (
    <section class="card" aria-labelledby="points-title">
      <h2 id="points-title">Do you know two distances?</h2>
      <p class="quiet">Click a point whose distance you know and enter it; then another. The depth is then in metres.</p>
      <div class="known">
        <label>
          This point (plane {(plane + 1).toFixed(2)}) is at
          <DecimalInput value={text} onInput={setText} />
        </label>
        <span class="unit">m</span>
        <button type="button" onClick={add}>
          Add
        </button>
      </div>
      <ul class="known-points">
        {points.map((point) => (
          <li key={point.plane}>
            plane {(point.plane + 1).toFixed(2)}: {numberText(point.distance)} m
          </li>
        ))}
      </ul>
      <SpacingChoice spacing={spacing} onChange={setSpacing} />
      <FieldProblem problem={problem} />
      {one && two && (
        <button
          type="button"
          class="primary"
          onClick={() => {
            void apply([one, two]);
          }}
        >
          Use them
        </button>
      )}
    </section>
  );
}
