import { Vector2 } from "three";

import { projectionOf } from "../../../src/output/projection.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { frameOf } from "./framing.ts";
import { onKeys, onTap } from "./input.ts";
import { createRuler } from "./ruler.ts";
import { createStage, type Stage } from "./stage.ts";
import { createSurface, type Drawing } from "./surface.ts";

export interface Scene3d extends Pick<
  Stage,
  "setExaggeration" | "rotate" | "zoom" | "reset" | "face" | "startTurning" | "stopTurning" | "dispose"
> {
  drawAs(drawing: Drawing): void;
  /** Measures between every two points that are clicked, until `stopRuler`. */
  startRuler(): void;
  stopRuler(): void;
  /** Called with the distance ("12.3 mm") after the second point, and with undefined when it is removed. */
  onMeasure(listener: (distance: string | undefined) => void): void;
}

/** The result as a textured surface to rotate, exaggerate and measure. Throws if WebGL is missing. */
export function createScene3d(canvas: HTMLCanvasElement, { result }: { readonly result: DepthResult }): Scene3d {
  const projection = projectionOf(result);
  const surface = createSurface(result);
  const { mesh } = surface;
  const stage = createStage(canvas, frameOf(mesh.geometry.getAttribute("position").array as Float32Array, { projection, ...result.depth }));
  const ruler = createRuler(projection);
  stage.model.add(mesh, surface.points, ruler.group);

  const listeners: ((distance: string | undefined) => void)[] = [];
  const report = (distance: string | undefined): void => {
    for (const listener of listeners) listener(distance);
    stage.draw();
  };
  let isMeasuring = false;
  const mark = (place: Vector2): void => {
    const point = isMeasuring ? stage.pick(mesh, place) : undefined;
    if (point) report(ruler.add(point));
  };
  const markMiddle = (): void => {
    mark(new Vector2(0, 0));
  };
  const stopInput = [onTap(canvas, mark), onKeys(canvas, { ...stage, mark: markMiddle })];
  stage.setExaggeration(1);
  stage.reset();

  return {
    ...stage,
    drawAs(drawing) {
      surface.draw(drawing);
      stage.draw();
    },
    startRuler() {
      isMeasuring = true;
    },
    stopRuler() {
      isMeasuring = false;
      ruler.clear();
      report(undefined);
    },
    onMeasure(listener) {
      listeners.push(listener);
    },
    dispose() {
      for (const stop of stopInput) stop();
      ruler.dispose();
      surface.dispose();
      stage.dispose();
    },
  };
}
