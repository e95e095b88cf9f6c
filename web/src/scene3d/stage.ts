import { Group, PerspectiveCamera, Raycaster, Scene, Vector3, WebGLRenderer } from "three";
import type { Object3D, Vector2 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import type { Scene3d } from "../contract.ts";
import { fieldOfView, viewingDistance, type Frame } from "./framing.ts";

/** A first look from the side: from straight ahead a surface with its picture on it is just the picture. */
const FIRST_LOOK = { azimuth: 0.35, polar: 0.15 } as const;

/** Something on a canvas that can be turned. */
export interface Stage extends Pick<Scene3d, "setExaggeration" | "rotate" | "zoom" | "reset" | "resize" | "dispose"> {
  /** What is shown, in units of its own. */
  readonly model: Group;
  /** Shows what changed with the next frame. */
  draw(): void;
  /** The point of `object`, in its own units, that is seen at a place of the canvas (from -1 to 1 across and up). */
  pick(object: Object3D, place: Vector2): Vector3 | undefined;
}

export function createStage(canvas: HTMLCanvasElement, frame: Frame): Stage {
  const renderer = createRenderer(canvas);
  const model = new Group();
  const scene = new Scene().add(model);
  const camera = new PerspectiveCamera(40, 1, 0.01, 100);
  const controls = new OrbitControls(camera, canvas);
  const nextFrame = onNextFrame(() => {
    renderer.render(scene, camera);
  });
  const draw = nextFrame.request;
  const resize = (): void => {
    fit(renderer, { camera, canvas, frame });
    draw();
  };
  const rotate: Stage["rotate"] = ({ azimuth, polar }) => {
    controls.rotateLeft(-azimuth);
    controls.rotateUp(polar);
  };
  const observer = new ResizeObserver(resize);
  observer.observe(canvas);
  controls.addEventListener("change", draw);
  return {
    model,
    draw,
    rotate,
    resize,
    zoom(factor) {
      controls.dollyIn(1 / factor);
    },
    reset() {
      camera.position.set(0, 0, viewingDistance(frame, { ...FIRST_LOOK, fov: camera.fov, aspect: camera.aspect }));
      controls.target.set(0, 0, 0);
      controls.update();
      rotate(FIRST_LOOK);
    },
    /** Depth alone is stretched, about the middle. */
    setExaggeration(factor) {
      model.scale.set(frame.scale, frame.scale, frame.scale * factor);
      model.position.copy(new Vector3(...frame.centre).multiply(model.scale)).negate();
      model.updateMatrixWorld();
      draw();
    },
    pick(object, place) {
      const ray = new Raycaster();
      ray.setFromCamera(place, camera);
      const [hit] = ray.intersectObject(object);
      return hit && object.worldToLocal(hit.point.clone());
    },
    dispose() {
      nextFrame.cancel();
      observer.disconnect();
      controls.dispose();
      renderer.dispose();
    },
  };
}

function createRenderer(canvas: HTMLCanvasElement): WebGLRenderer {
  const context = canvas.getContext("webgl2", { antialias: true, alpha: true });
  if (!context) throw new Error("the 3-D view needs WebGL 2, which this browser does not offer or has switched off");
  const renderer = new WebGLRenderer({ canvas, context });
  renderer.setClearColor(0, 0); // the page's own background shows through
  return renderer;
}

function fit(
  renderer: WebGLRenderer,
  { camera, canvas, frame }: { camera: PerspectiveCamera; canvas: HTMLCanvasElement; frame: Frame },
): void {
  const [width, height] = [Math.max(1, canvas.clientWidth), Math.max(1, canvas.clientHeight)];
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  renderer.setSize(width, height, false); // the size on the page is the style sheet's
  camera.aspect = width / height;
  camera.fov = fieldOfView(frame.tangents, camera.aspect);
  camera.updateProjectionMatrix();
}

/** However often it is requested, `draw` runs once a frame: nothing is drawn while nothing changes. */
function onNextFrame(draw: () => void): { request: () => void; cancel: () => void } {
  let frame = 0;
  return {
    request: () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    },
    cancel: () => {
      cancelAnimationFrame(frame);
    },
  };
}
