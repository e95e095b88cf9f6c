import { BufferAttribute, BufferGeometry, Group, Line, LineBasicMaterial, Points, PointsMaterial } from "three";
import type { Vector3 } from "three";

import type { Projection } from "../../../src/output/projection.ts";
import { distanceText } from "../state/measure.ts";

const COLOR = 0xff5a36;

/** Two points of a surface and the line between them. */
export interface Ruler {
  /** To add next to the surface, so that both are exaggerated alike. */
  readonly group: Group;
  /** The distance once there are two points; a third point starts over. Points are in the projection's unit. */
  add(point: Vector3): string | undefined;
  clear(): void;
  dispose(): void;
}

export function createRuler(projection: Projection): Ruler {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(6), 3));
  geometry.setDrawRange(0, 0);
  // Drawn on top: the far end of a ruler may be behind the surface.
  const pointMaterial = new PointsMaterial({ color: COLOR, size: 10, sizeAttenuation: false, depthTest: false });
  const lineMaterial = new LineBasicMaterial({ color: COLOR, depthTest: false });
  const group = new Group();
  for (const part of [new Line(geometry, lineMaterial), new Points(geometry, pointMaterial)]) {
    part.renderOrder = 1;
    part.frustumCulled = false; // the bounds of moving points are out of date
    group.add(part);
  }
  let points: Vector3[] = [];
  const show = (next: Vector3[]): void => {
    points = next;
    const position = geometry.getAttribute("position");
    for (const [i, { x, y, z }] of points.entries()) position.setXYZ(i, x, y, z);
    position.needsUpdate = true;
    geometry.setDrawRange(0, points.length);
  };
  return {
    group,
    add(point) {
      show(points.length === 2 ? [point] : [...points, point]);
      const [from, to] = points;
      return from && to ? distanceText(from.distanceTo(to), projection) : undefined;
    },
    clear() {
      show([]);
    },
    dispose() {
      geometry.dispose();
      pointMaterial.dispose();
      lineMaterial.dispose();
    },
  };
}
