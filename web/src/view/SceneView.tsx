import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { TEST_IDS, type ViewResult } from "../contract.ts";
import type { Scene3d } from "../scene3d/scene3d.ts";
import { Slider } from "./fields.tsx";
import type { ResultProps } from "./ResultView.tsx";

/** The scene as a surface to rotate, exaggerate and measure. */
export function SceneView({ result: view }: ResultProps): VNode {
  const { canvas, scene, measurement, problem } = useScene(view);
  const [exaggeration, setExaggeration] = useState(1);
  const [isMeasuring, setMeasuring] = useState(false);
  const toggleRuler = (): void => {
    if (isMeasuring) scene.current?.stopRuler();
    else scene.current?.startRuler();
    setMeasuring(!isMeasuring);
  };
  return (
    <figure>
      <canvas ref={canvas} class="scene" tabIndex={0} role="img" aria-label={SCENE_LABEL} data-testid={TEST_IDS.sceneCanvas} />
      {problem !== undefined && <p role="alert">{problem}</p>}
      <figcaption class="controls">
        <Slider
          label="Depth exaggeration"
          value={exaggeration}
          text={`${exaggeration.toFixed(1)} ×`}
          min={0.2}
          max={5}
          step={0.1}
          testId={TEST_IDS.sceneExaggeration}
          onInput={(factor) => {
            setExaggeration(factor);
            scene.current?.setExaggeration(factor);
          }}
        />
        <div class="buttons">
          <button type="button" aria-pressed={isMeasuring} data-testid={TEST_IDS.sceneRuler} onClick={toggleRuler}>
            Ruler
          </button>
          <button type="button" onClick={() => scene.current?.reset()}>
            Reset the view
          </button>
        </div>
        <p role="status" data-testid={TEST_IDS.sceneMeasure}>
          {isMeasuring ? (measurement ? `Distance: ${measurement}` : "Click two points.") : ""}
        </p>
      </figcaption>
    </figure>
  );
}

const SCENE_LABEL =
  "The scene in 3-D; drag or use the arrow keys to rotate it, plus and minus to zoom, Enter to mark a point for the ruler";

interface SceneState {
  readonly canvas: { current: HTMLCanvasElement | null };
  readonly scene: { current: Scene3d | undefined };
  readonly measurement: string | undefined;
  readonly problem: string | undefined;
}

/** Loads three.js only when the scene is shown. */
function useScene(view: ViewResult): SceneState {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scene = useRef<Scene3d | undefined>(undefined);
  const [measurement, setMeasurement] = useState<string>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    const begin = async (): Promise<void> => {
      const { createScene3d } = await import("../scene3d/scene3d.ts");
      if (controller.signal.aborted || !canvas.current) return;
      scene.current = createScene3d(canvas.current, view);
      scene.current.onMeasure(setMeasurement);
    };
    begin().catch((error: unknown) => {
      setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => {
      controller.abort();
      scene.current?.dispose();
      scene.current = undefined;
    };
  }, [view]);
  return { canvas, scene, measurement, problem };
}
