import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { validRange } from "../../../src/output/result.ts";
import { TEST_IDS } from "../contract.ts";
import { createRefocus, type Refocus } from "../refocus/refocus.ts";
import { depthText } from "../state/words.ts";
import { Slider } from "./fields.tsx";
import type { ResultProps } from "./ResultView.tsx";

const STEPS = 1000;
/** Full stops, from wide open to closed. */
const F_NUMBERS = [0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16, 22] as const;

/** The scene through another lens, with sliders for focus and aperture. */
export function RefocusView({ result: view }: ResultProps): VNode {
  const { result } = view;
  const canvas = useRef<HTMLCanvasElement>(null);
  const refocus = useRef<Refocus | undefined>(undefined);
  const [problem, setProblem] = useState<string>();
  const [focusStep, setFocusStep] = useState(STEPS / 4);
  const [stop, setStop] = useState(F_NUMBERS.indexOf(2));
  const range = useMemo(() => validRange(result.depth), [result]);
  const focus = focusAt(focusStep / STEPS, { range, metric: result.unit === "m" });
  const fNumber = F_NUMBERS[stop] ?? 2;
  useEffect(() => {
    if (!canvas.current) return undefined;
    try {
      refocus.current = createRefocus(canvas.current, view);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    return () => {
      refocus.current?.dispose();
      refocus.current = undefined;
    };
  }, [view]);
  useEffect(() => {
    refocus.current?.set({ focus, fNumber });
  }, [focus, fNumber, view]);
  const focusText = depthText(focus, { unit: result.unit, largest: range[1] });
  return (
    <figure>
      <canvas
        ref={canvas}
        class="painted"
        role="img"
        aria-label={`The scene with the focus at ${focusText}, f/${fNumber}`}
        data-testid={TEST_IDS.refocusCanvas}
        style={{ "--aspect": result.depth.width / result.depth.height }}
      />
      {problem !== undefined && <p role="alert">{problem}</p>}
      <figcaption class="controls">
        <Slider
          label="Focus"
          value={focusStep}
          text={focusText}
          min={0}
          max={STEPS}
          testId={TEST_IDS.refocusFocus}
          onInput={setFocusStep}
        />
        <Slider
          label="Aperture"
          value={stop}
          text={`f/${fNumber}`}
          min={0}
          max={F_NUMBERS.length - 1}
          testId={TEST_IDS.refocusFNumber}
          onInput={setStop}
        />
      </figcaption>
    </figure>
  );
}

/** Even steps in 1/distance, like a focus ring, if depth is a distance. */
function focusAt(share: number, { range: [least, greatest], metric }: { range: readonly [number, number]; metric: boolean }): number {
  if (!metric || least <= 0) return least + share * (greatest - least);
  return 1 / (1 / least + share * (1 / greatest - 1 / least));
}
