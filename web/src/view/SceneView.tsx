import type { ComponentChildren, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { DepthResult } from "../../../src/output/result.ts";
import { doubtfulFraction, vouchedOnly } from "../../../src/output/trust.ts";
import { TEST_IDS } from "../contract.ts";
import { fileStem, offer } from "../downloads/offer.ts";
import type { Scene3d } from "../scene3d/scene3d.ts";
import type { Drawing } from "../scene3d/surface.ts";
import { IS_STANDALONE } from "../standalone/isStandalone.ts";
import { percentText } from "../state/look.ts";
import { sentence } from "../state/words.ts";
import { TrustChoice } from "./ColorPanel.tsx";
import { Choice, Slider } from "./fields.tsx";
import { needsDepth } from "./needsDepth.tsx";
import type { ResultProps } from "./ResultView.tsx";

const DRAWINGS: readonly (readonly [Drawing, string])[] = [
  ["surface", "Surface"],
  ["points", "Points"],
  ["wireframe", "Wireframe"],
];

/** The scene as a surface to rotate, exaggerate, measure and save. */
export const SceneView = needsDepth(function SceneView({ result: view, state: { look }, controller }: ResultProps): VNode {
  const figure = useRef<HTMLElement>(null);
  const { leastConfidence } = look;
  const shown = useMemo(() => vouchedOnly(view.result, leastConfidence), [view, leastConfidence]);
  const leftOut = useMemo(() => doubtfulFraction(view.result, leastConfidence), [view, leastConfidence]);
  const { canvas, scene, measurement, problem } = useScene(shown);
  const [exaggeration, setExaggeration] = useState(1);
  const [drawing, setDrawing] = useState<Drawing>("surface");
  const [isMeasuring, setMeasuring] = useState(false);
  useEffect(() => {
    setExaggeration(1);
    setDrawing("surface");
    setMeasuring(false);
  }, [shown]);
  const toggleRuler = (): void => {
    if (isMeasuring) scene.current?.stopRuler();
    else scene.current?.startRuler();
    setMeasuring(!isMeasuring);
  };
  return (
    <figure class="scene-figure" ref={figure}>
      <canvas
        ref={canvas}
        class="scene"
        hidden={problem !== undefined}
        tabIndex={0}
        role="img"
        aria-label={SCENE_LABEL}
        data-testid={TEST_IDS.sceneCanvas}
      />
      {problem !== undefined && <p role="alert">{sentence(problem)}</p>}
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
        <Choice
          label="Show as"
          value={drawing}
          choices={DRAWINGS}
          testId={TEST_IDS.sceneDrawing}
          onChange={(as) => {
            setDrawing(as);
            scene.current?.drawAs(as);
          }}
        />
        <TrustChoice look={look} controller={controller} label="Leave out errors above" />
        <ViewButtons figure={figure} scene={scene}>
          <button type="button" aria-pressed={isMeasuring} data-testid={TEST_IDS.sceneRuler} onClick={toggleRuler}>
            Ruler
          </button>
          {!IS_STANDALONE && (
            <SaveButton
              save={async () => {
                const { makeOutput } = await import("../downloads/downloads.ts");
                offer(await makeOutput(view.result, "glb", look), `${fileStem(view.name)}-mesh.glb`);
              }}
            />
          )}
        </ViewButtons>
        <p role="status" data-testid={TEST_IDS.sceneMeasure}>
          {isMeasuring ? (measurement ? `Distance: ${measurement}` : "Click two points.") : ""}
        </p>
        {leftOut > 0 && <LeftOutNote share={leftOut} />}
      </figcaption>
    </figure>
  );
});

function LeftOutNote({ share }: { share: number }): VNode {
  return (
    <p class="quiet" data-testid={TEST_IDS.sceneLeftOut}>
      Here{IS_STANDALONE ? "" : " and in the saved model"}, {percentText(share)} of the image is left out: its depth is not certain enough.
    </p>
  );
}

const SCENE_LABEL =
  "The scene in 3-D; drag or use the arrow keys to rotate it, plus and minus to zoom, Enter to mark a point for the ruler";

interface ViewButtonsProps {
  readonly figure: { readonly current: HTMLElement | null };
  readonly scene: { readonly current: Scene3d | undefined };
  readonly children: ComponentChildren;
}

/** Where the scene is seen from. */
function ViewButtons({ figure, scene, children }: ViewButtonsProps): VNode {
  const [isTurning, setTurning] = useState(false);
  const toggleTurning = (): void => {
    if (isTurning) scene.current?.stopTurning();
    else
      scene.current?.startTurning(() => {
        setTurning(false);
      });
    setTurning(!isTurning && scene.current !== undefined);
  };
  const toggleFullScreen = (): void => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void figure.current?.requestFullscreen();
  };
  return (
    <div class="buttons">
      <button type="button" onClick={() => scene.current?.face("front")} data-testid={TEST_IDS.sceneFront}>
        Front
      </button>
      <button type="button" onClick={() => scene.current?.face("side")} data-testid={TEST_IDS.sceneSide}>
        Side
      </button>
      <button type="button" onClick={() => scene.current?.reset()}>
        Reset the view
      </button>
      <button type="button" aria-pressed={isTurning} data-testid={TEST_IDS.sceneTurn} onClick={toggleTurning}>
        Turn slowly
      </button>
      {document.fullscreenEnabled && (
        <button type="button" onClick={toggleFullScreen}>
          Full screen
        </button>
      )}
      {children}
    </div>
  );
}

/** The model as a file. */
function SaveButton({ save }: { save: () => Promise<void> }): VNode {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  return (
    <>
      <button
        type="button"
        disabled={isBusy}
        data-testid={TEST_IDS.sceneSave}
        onClick={() => {
          setBusy(true);
          save()
            .then(
              () => {
                setProblem("");
              },
              (error: unknown) => {
                setProblem(error instanceof Error ? error.message : String(error));
              },
            )
            .finally(() => {
              setBusy(false);
            });
        }}
      >
        Save GLB
      </button>
      {problem && <span role="alert">{problem}</span>}
    </>
  );
}

interface SceneState {
  readonly canvas: { current: HTMLCanvasElement | null };
  readonly scene: { current: Scene3d | undefined };
  readonly measurement: string | undefined;
  readonly problem: string | undefined;
}

/** Loads three.js only when the scene is shown. */
function useScene(result: DepthResult): SceneState {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scene = useRef<Scene3d | undefined>(undefined);
  const [measurement, setMeasurement] = useState<string>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    const begin = async (): Promise<void> => {
      const { createScene3d } = await import("../scene3d/scene3d.ts");
      if (controller.signal.aborted || !canvas.current) return;
      scene.current = createScene3d(canvas.current, { result });
      scene.current.onMeasure(setMeasurement);
      setProblem(undefined);
    };
    begin().catch((error: unknown) => {
      setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => {
      controller.abort();
      scene.current?.dispose();
      scene.current = undefined;
    };
  }, [result]);
  return { canvas, scene, measurement, problem };
}
