import { Group, PerspectiveCamera, Raycaster, Scene, Vector3, WebGLRenderer } from "three";
import type { Object3D, Vector2 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import { fieldOfView, viewpoint, type Frame } from "./framing.ts";

/** The first view is slightly from the side: from the front a textured surface looks like the flat image. */
const FIRST_VIEW = { azimuth: 0.35, polar: 0.15 } as const;

const FACES = { front: { azimuth: 0, polar: 0 }, side: { azimuth: Math.PI / 2, polar: 0 } } as const;

/** Half the angle of the slow turn [radians], and its period [s]: the back of a surface shows nothing. */
const [SWING, PERIOD] = [0.6, 12];

/** A model on a canvas that can be rotated. */
export interface Stage {
  /** 1 is true to scale. */
  setExaggeration(factor: number): void;
  /** Radians to rotate by. */
  rotate(turn: { readonly azimuth: number; readonly polar: number }): void;
  /** Above 1 comes nearer. */
  zoom(factor: number): void;
  reset(): void;
  /** Straight from the front, or from the side. */
  face(side: "front" | "side"): void;
  /** Turns slowly to and fro until it is stopped or taken hold of; `onStop` is called then. */
  startTurning(onStop: () => void): void;
  stopTurning(): void;
  dispose(): void;
  /** The model, in its own units. */
  readonly model: Group;
  /** Draws with the next frame. */
  draw(): void;
  /** The point of `object`, in its own units, at a position on the canvas (from -1 to 1 right and up). */
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
  resize();
  controls.addEventListener("change", draw);
  const lookFrom = (view: { azimuth: number; polar: number }): void => {
    const { target, distance } = viewpoint(frame, { ...view, fov: camera.fov, aspect: camera.aspect });
    controls.target.set(...target);
    camera.position.copy(controls.target).add(new Vector3(0, 0, distance));
    controls.update();
    rotate(view);
  };
  const swing = swinging((azimuth) => {
    rotate({ azimuth, polar: 0 });
  });
  controls.addEventListener("start", swing.stop);
  return {
    model,
    draw,
    rotate,
    face(side) {
      lookFrom(FACES[side]);
    },
    startTurning: swing.start,
    stopTurning: swing.stop,
    zoom(factor) {
      controls.dollyIn(1 / factor);
    },
    reset() {
      lookFrom(FIRST_VIEW);
    },
    /** Scales only the depth, about the middle. */
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
      swing.stop();
      nextFrame.cancel();
      observer.disconnect();
      controls.dispose();
      renderer.dispose();
    },
  };
}

function createRenderer(canvas: HTMLCanvasElement): WebGLRenderer {
  const context = canvas.getContext("webgl2", { antialias: true, alpha: true });
  if (!context) throw new Error("the 3-D view needs WebGL 2, which this browser does not support or has disabled");
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
  renderer.setSize(width, height, false); // the style sheet sets the size on the page
  camera.aspect = width / height;
  camera.fov = fieldOfView(frame.tangents, camera.aspect);
  camera.updateProjectionMatrix();
}

/** Runs `draw` at most once per frame, and only if requested. */
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

/** Turns by sin(2π t / PERIOD), in steps from frame to frame, so that the view stays where it was taken hold of. */
function swinging(turn: (angle: number) => void): { start: (onStop: () => void) => void; stop: () => void } {
  let [frame, stopped]: [number, () => void] = [0, () => undefined];
  const stop = (): void => {
    if (!frame) return;
    cancelAnimationFrame(frame);
    frame = 0;
    stopped();
  };
  return {
    stop,
    start(onStop) {
      stop();
      stopped = onStop;
      const begin = performance.now();
      let last = 0;
      frame = requestAnimationFrame(function next(now) {
        const angle = SWING * Math.sin((2 * Math.PI * (now - begin)) / 1000 / PERIOD);
        turn(angle - last);
        last = angle;
        frame = requestAnimationFrame(next);
      });
    },
  };
}
