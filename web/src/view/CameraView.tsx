import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { focusSteps, openCamera, takePhotos, type FocusCamera } from "../camera/camera.ts";
import { TEST_IDS } from "../contract.ts";
import { focusAt, type FocusScale } from "../refocus/sweep.ts";
import { depthText } from "../state/words.ts";
import type { UserFile } from "../worker/protocol.ts";
import { Choice, Slider } from "./fields.tsx";

interface CameraViewProps {
  readonly onPhotos: (files: readonly UserFile[]) => void;
  readonly onClose: () => void;
}

const COUNTS = [5, 7, 9, 12].map((count) => [count, `${count} photos`] as const);
const STEPS = 100;

/** The camera's picture, its nearest and farthest focus, and a button that takes a photo at each distance between. */
export function CameraView({ onPhotos, onClose }: CameraViewProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const video = useRef<HTMLVideoElement>(null);
  const [camera, setCamera] = useState<FocusCamera>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    dialog.current?.showModal();
    let [isShown, opened]: [boolean, FocusCamera | undefined] = [true, undefined];
    openCamera().then(
      (found) => {
        opened = found;
        if (!isShown) found?.close();
        else if (found) setCamera(found);
        else setProblem(NO_FOCUS);
      },
      (error: unknown) => {
        setProblem(`The camera cannot be used: ${error instanceof Error ? error.message : String(error)}.`);
      },
    );
    return () => {
      isShown = false;
      opened?.close();
    };
  }, []);
  useEffect(() => {
    if (camera && video.current) video.current.srcObject = camera.stream;
  }, [camera]);
  return (
    <dialog ref={dialog} class="camera" aria-label="Take photos" data-testid={TEST_IDS.camera} onClose={onClose}>
      {problem === undefined ? (
        <video ref={video} autoPlay muted playsInline aria-label="What the camera sees" />
      ) : (
        <p role="alert">{problem}</p>
      )}
      {camera && <Shutter camera={camera} video={video} onPhotos={onPhotos} onProblem={setProblem} />}
      <button type="button" onClick={() => dialog.current?.close()}>
        Close the camera
      </button>
    </dialog>
  );
}

const NO_FOCUS =
  "This camera does not let a page set its focus. Take the photos with a camera app that has manual focus, or film while you move the focus, and drop them here.";

interface ShutterProps {
  readonly camera: FocusCamera;
  readonly video: { readonly current: HTMLVideoElement | null };
  readonly onPhotos: (files: readonly UserFile[]) => void;
  readonly onProblem: (problem: string) => void;
}

/** Moving a slider focuses there, so that its end of the scene can be seen sharp. */
function Shutter({ camera, video, onPhotos, onProblem }: ShutterProps): VNode {
  const scale: FocusScale = { range: camera.range, isDistance: true };
  const [near, setNear] = useState(0);
  const [far, setFar] = useState(STEPS);
  const [count, setCount] = useState(7);
  const [taken, setTaken] = useState<number>();
  const shooting = useRef(new AbortController());
  useEffect(
    () => () => {
      shooting.current.abort();
    },
    [],
  );
  const distance = (step: number): number => focusAt(step / STEPS, scale);
  const text = (step: number): string => depthText(distance(step), { unit: "m", largest: camera.range[1] });
  const show = (step: number): void => {
    camera.focus(distance(step)).catch(() => undefined); // the next one counts
  };
  const shoot = async (): Promise<void> => {
    if (!video.current) return;
    setTaken(0);
    const distances = focusSteps({ near: distance(near), far: distance(far), count });
    try {
      onPhotos(await takePhotos(camera, video.current, { distances, signal: shooting.current.signal, onPhoto: setTaken }));
    } catch (error) {
      if (shooting.current.signal.aborted) return;
      setTaken(undefined);
      onProblem(`The photos could not be taken: ${error instanceof Error ? error.message : String(error)}.`);
    }
  };
  return (
    <>
      <p class="quiet">Rest the phone on something. Set both ends so that the nearest and the farthest thing are just sharp.</p>
      <Slider
        label="Nearest"
        value={near}
        text={text(near)}
        min={0}
        max={STEPS}
        testId={TEST_IDS.cameraNear}
        onInput={(step) => {
          setNear(Math.min(step, far - 1));
          show(step);
        }}
      />
      <Slider
        label="Farthest"
        value={far}
        text={text(far)}
        min={0}
        max={STEPS}
        testId={TEST_IDS.cameraFar}
        onInput={(step) => {
          setFar(Math.max(step, near + 1));
          show(step);
        }}
      />
      <div class="buttons">
        <Choice label="Take" value={count} choices={COUNTS} onChange={setCount} />
        <button
          type="button"
          class="primary"
          disabled={taken !== undefined}
          data-testid={TEST_IDS.cameraShoot}
          onClick={() => void shoot()}
        >
          Take photos
        </button>
      </div>
      <p role="status">{taken === undefined ? "" : `${taken} of ${count} photos; do not move the phone`}</p>
    </>
  );
}
