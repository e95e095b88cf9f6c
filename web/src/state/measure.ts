import { backProject, distances, projectionOf, type Projection } from "../../../src/output/projection.ts";
import { isKnown, type DepthResult } from "../../../src/output/result.ts";
import { displayUnit } from "../../../src/output/ticks.ts";
import type { Pixel } from "./curve.ts";
import { depthText } from "./words.ts";

/** A line on the depth map. */
export interface MeasuredLine {
  readonly from: Pixel;
  readonly to: Pixel;
}

/** Depth along a line, one value per pixel of its longer side; NaN where it is unknown. */
export function profileOf({ depth }: Pick<DepthResult, "depth">, { from, to }: MeasuredLine): Float32Array {
  const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y));
  return Float32Array.from({ length: steps + 1 }, (_, i) => {
    const share = steps === 0 ? 0 : i / steps;
    const [x, y] = [Math.round(from.x + share * (to.x - from.x)), Math.round(from.y + share * (to.y - from.y))];
    const at = y * depth.width + x;
    return isKnown(depth, at) ? (depth.values[at] as number) : NaN;
  });
}

/** The straight distance between the points of two pixels in space, in the projection's unit; NaN if either is unknown. */
export function distanceBetween(result: DepthResult, { from, to }: MeasuredLine): number {
  const projection = projectionOf(result);
  const far = distances(result, projection);
  const points = new Float32Array(6);
  for (const [i, { x, y }] of [from, to].entries()) {
    const distance = far[y * result.depth.width + x] as number;
    backProject(result.depth, projection, { column: x, row: y, distance, into: points, at: 3 * i });
  }
  const [x1, y1, z1, x2, y2, z2] = points as unknown as [number, number, number, number, number, number];
  return Math.hypot(x2 - x1, y2 - y1, z2 - z1);
}

/** What a line measures, as pairs of a name and a value. */
export function lineFacts(result: DepthResult, line: MeasuredLine): readonly (readonly [string, string])[] {
  const { depth, unit } = result;
  const { from, to } = line;
  const [start, end] = [depth.values[from.y * depth.width + from.x] as number, depth.values[to.y * depth.width + to.x] as number];
  const distance = distanceBetween(result, line);
  const pixels = Math.hypot(to.x - from.x, to.y - from.y);
  const rise = Math.abs(end - start);
  const largest = Math.max(Math.abs(start), Math.abs(end));
  return [
    ["Distance", Number.isNaN(distance) ? "unknown: an end has no depth" : distanceText(distance, projectionOf(result))],
    [
      "Depth difference",
      Number.isNaN(distance) ? "unknown" : unit === "index" ? `${rise.toFixed(2)} planes` : depthText(rise, { unit, largest }),
    ],
    ["In the image", `${pixels.toFixed(pixels < 10 ? 1 : 0)} pixels`],
  ];
}

/** A distance in the most readable unit; without a common unit, as a fraction of the image's longer side. */
export function distanceText(distance: number, projection: Projection): string {
  if (projection.kind === "relief") return `${Number(distance.toPrecision(3))} × the image's longer side (no common unit is known)`;
  const { name, factor } = displayUnit("m", distance);
  const assumed = projection.kind === "pinhole" && projection.assumed ? " (camera unknown, 60° field of view assumed)" : "";
  return `${Number((distance * factor).toPrecision(3))} ${name}${assumed}`;
}
