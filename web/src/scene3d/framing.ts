import type { Size } from "../../../src/image/image.ts";
import type { Projection } from "../../../src/output/projection.ts";

/** Normalises a point cloud: world = scale · (point - centre), so that the longer side spans 2. */
export interface Frame {
  readonly scale: number;
  readonly centre: readonly [number, number, number];
  /** Tangents of the half angles of view, horizontal and vertical. */
  readonly tangents: readonly [number, number];
  /** A sample of the points in world coordinates: x, y, z, x, y, z, … */
  readonly sample: Float32Array;
}

/** Without perspective, the viewing distance in halves of the longer side. */
const RELIEF_DISTANCE = 3;
const SAMPLE = 5000;

/** The surface rotates about its middle and is seen with the angle of view it was photographed with. */
export function frameOf(positions: Float32Array, { projection, width, height }: Size & { readonly projection: Projection }): Frame {
  const stride = 3 * Math.max(1, Math.floor(positions.length / 3 / SAMPLE));
  const points = Float32Array.from({ length: 3 * Math.floor(positions.length / stride) }, (_, i) => {
    return positions[Math.floor(i / 3) * stride + (i % 3)] as number;
  });
  const depths = points.filter((_, i) => i % 3 === 2).map((z) => -z);
  const middle = (quantile(depths, 0.02) + quantile(depths, 0.98)) / 2;
  const longer = Math.max(width, height);
  const isPinhole = projection.kind === "pinhole";
  const perPixel = isPinhole ? middle / projection.focalLength : projection.kind === "orthographic" ? projection.pixelSize : 1 / longer;
  const scale = 2 / (longer * perPixel);
  const distance = isPinhole ? scale * middle : RELIEF_DISTANCE;
  return {
    scale,
    centre: [0, 0, -middle],
    tangents: [width / longer / distance, height / longer / distance],
    sample: points.map((value, i) => scale * (i % 3 === 2 ? value + middle : value)),
  };
}

/** The quantile of the values: unlike the maximum, not affected by a few outliers. */
function quantile(values: Float32Array, share: number): number {
  return values.toSorted()[Math.floor(share * (values.length - 1))] ?? 0;
}

/** Vertical field of view [degrees] that shows the whole image on a canvas of this aspect ratio. */
export function fieldOfView([across, down]: readonly [number, number], aspect: number): number {
  return (360 / Math.PI) * Math.atan(Math.max(down, across / aspect));
}

/** Where to look from. */
export interface Viewpoint {
  /** The point in the middle of the view. */
  readonly target: readonly [number, number, number];
  /** From it. */
  readonly distance: number;
}

/** Of the sampled points, a few outliers need not be in view. */
const NEARLY_ALL = 0.999;
const AIR = 1.05;

/**
 * The nearest viewpoint in this direction from which nearly all points are in view. Angles in radians, `fov` in degrees.
 *
 * Beside the target by c, at the distance d, a point r beside the axis and t towards the viewer is in view if |r - c| ≤ k (d - t), k the tangent
 * of half the angle of view. So c + k d ≥ max(r + k t) and -c + k d ≥ max(-r + k t), and the least d has both equal; upwards as sideways.
 */
export function viewpoint(
  { sample }: Pick<Frame, "sample">,
  { azimuth, polar, fov, aspect }: { azimuth: number; polar: number; fov: number; aspect: number },
): Viewpoint {
  const [sinA, cosA, sinP, cosP] = [Math.sin(azimuth), Math.cos(azimuth), Math.sin(polar), Math.cos(polar)];
  const axes = {
    right: [cosA, 0, -sinA],
    up: [-sinA * sinP, cosP, -cosA * sinP],
    towards: [sinA * cosP, sinP, cosA * cosP],
  } as const;
  const along = (axis: readonly [number, number, number], i: number): number =>
    axis.reduce((sum, part, n) => sum + part * (sample[3 * i + n] as number), 0);
  const fit = (axis: readonly [number, number, number], k: number): { shift: number; distance: number } => {
    const reach = (sign: 1 | -1): number =>
      quantile(
        Float32Array.from({ length: sample.length / 3 }, (_, i) => sign * along(axis, i) + k * along(axes.towards, i)),
        NEARLY_ALL,
      );
    const [one, other] = [reach(1), reach(-1)];
    return { shift: (one - other) / 2, distance: (one + other) / (2 * k) };
  };
  const down = Math.tan((fov * Math.PI) / 360);
  const [across, upwards] = [fit(axes.right, down * aspect), fit(axes.up, down)];
  return {
    target: axes.right.map((part, n) => across.shift * part + upwards.shift * (axes.up[n] as number)) as [number, number, number],
    distance: AIR * Math.max(across.distance, upwards.distance),
  };
}
