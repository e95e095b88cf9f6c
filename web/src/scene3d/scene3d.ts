import { Vector2 } from "three";

import { projectionOf } from "../../../src/output/projection.ts";
import type { CreateScene3d, Measurement } from "../contract.ts";
import { frameOf } from "./framing.ts";
import { onKeys, onTap } from "./input.ts";
import { createRuler } from "./ruler.ts";
import { createStage } from "./stage.ts";
import { createSurface } from "./surface.ts";

/** The result as a textured surface to rotate, exaggerate and measure. */
export const createScene3d: CreateScene3d = (canvas, { result }) => {
  const projection = projectionOf(result);
  const surface = createSurface(result);
  const { mesh } = surface;
  const stage = createStage(canvas, frameOf(mesh.geometry.getAttribute("position").array as Float32Array, { projection, ...result.depth }));
  const ruler = createRuler(projection);
  stage.model.add(mesh, ruler.group);

  const listeners: ((measurement: Measurement | undefined) => void)[] = [];
  const report = (measurement: Measurement | undefined): void => {
    for (const listener of listeners) listener(measurement);
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
  stage.resize();
  stage.reset();

  return {
    ...stage,
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
};
