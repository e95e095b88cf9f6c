import type { Size } from "../image/image.ts";
import { validRange } from "./result.ts";
import type { DepthResult } from "./result.ts";

/**
 * How pixels map to points. `pinhole`: focal length in pixels, `assumed` if the camera is unknown. `orthographic`: metres per pixel.
 * `relief`: depth has no unit; the longer side is 1 and the depth range is `height`.
 */
export type Projection =
  | { readonly kind: "pinhole"; readonly focalLength: number; readonly assumed: boolean }
  | { readonly kind: "orthographic"; readonly pixelSize: number }
  | { readonly kind: "relief"; readonly height: number };

/** Degrees across the longer side if the camera is unknown: roughly a phone's main camera. */
export const DEFAULT_FIELD_OF_VIEW = 60;

const RELIEF_HEIGHT = 0.25;

/** In dioptres depth can be infinite; points farther than this many times the nearest are left out. */
const FARTHEST = 100;

export function projectionOf({ depth, unit, camera, pixelSize }: DepthResult): Projection {
  if (unit !== "m" && unit !== "dpt") return { kind: "relief", height: RELIEF_HEIGHT };
  if (pixelSize !== undefined) return { kind: "orthographic", pixelSize };
  if (depth.space === "position") return { kind: "relief", height: RELIEF_HEIGHT }; // no camera is where z is 0
  if (camera) return { kind: "pinhole", focalLength: camera.focalLength / camera.pixelPitch, assumed: false };
  const side = Math.max(depth.width, depth.height);
  return { kind: "pinhole", focalLength: side / 2 / Math.tan((DEFAULT_FIELD_OF_VIEW * Math.PI) / 360), assumed: true };
}

/** Distance of every pixel from the camera plane: metres, or fractions of the longer side in relief; NaN where unknown. */
export function distances({ depth, unit }: DepthResult, projection: Projection): Float32Array {
  const [least, greatest] = validRange(depth);
  const known = (value: number, pixel: number): number => (depth.valid[pixel] ? value : NaN);
  if (projection.kind !== "relief") {
    if (depth.space === "position") return depth.values.map(known);
    if (unit === "m") return depth.values.map((value, pixel) => (value > 0 ? known(value, pixel) : NaN));
    return depth.values.map((value, pixel) => (value > greatest / FARTHEST ? known(1 / value, pixel) : NaN));
  }
  const span = greatest - least || 1;
  const largerIsNearer = depth.space === "disparity";
  return depth.values.map((value, pixel) => known(((largerIsNearer ? greatest - value : value - least) / span) * projection.height, pixel));
}

/** Writes the point of one pixel at `into[at…at+2]`: x right, y up, z towards the viewer, a camera at the origin looking along −z. */
export function backProject(
  { width, height }: Size,
  projection: Projection,
  { column, row, distance, into, at }: { column: number; row: number; distance: number; into: Float32Array; at: number },
): void {
  const perPixel =
    projection.kind === "pinhole"
      ? distance / projection.focalLength
      : projection.kind === "orthographic"
        ? projection.pixelSize
        : 1 / Math.max(width, height);
  into[at] = (column + 0.5 - width / 2) * perPixel;
  into[at + 1] = -(row + 0.5 - height / 2) * perPixel;
  into[at + 2] = -distance;
}

/** For display and for file headers. */
export function describeProjection(projection: Projection): string {
  switch (projection.kind) {
    case "pinhole": {
      const known = projection.assumed ? `assumed: ${DEFAULT_FIELD_OF_VIEW} degrees across the longer side` : "from the camera";
      return `pinhole camera, focal length ${projection.focalLength.toFixed(1)} pixels (${known}); metres`;
    }
    case "orthographic":
      return `no perspective, ${projection.pixelSize} metres per pixel; metres`;
    case "relief":
      return `no common unit is known: the longer side is 1, the depth range ${projection.height}`;
  }
}
