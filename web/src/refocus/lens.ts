import { blurPerDioptre } from "../../../src/optics/lens/thinLens.ts";
import { projectionOf } from "../../../src/output/projection.ts";
import { validRange } from "../../../src/output/result.ts";
import type { DepthResult } from "../../../src/output/result.ts";

/** The controls: the depth in focus, in the unit of the depth map, and the f-number. */
export interface LensSetting {
  readonly focus: number;
  readonly fNumber: number;
}

/**
 * A lens for a result. Every depth value has a nearness u (1/S for distances, larger is nearer) in which blur is linear:
 *
 *     r(u) = gain · (u - u_focus)      blur radius in pixels of the depth map, positive nearer than the focus
 */
export interface Lens {
  nearness(value: number): number;
  gain(setting: LensSetting): number;
}

/** Assumed f-number of the photographs if the camera is unknown. */
const F_NUMBER = 2.8;

/** The f-number that the stack was photographed with. */
export const photographedAt = ({ camera }: DepthResult): number => camera?.fNumber ?? F_NUMBER;

/** Assumed width of the sensor [m] if the camera is unknown: full frame. */
const SENSOR = 0.036;
/** An assumed lens is at least this many focal lengths away from the nearest object: macro photographs are not taken with 31 mm. */
const NEAREST = 4;
/** Without any unit: diameter of blur from one end of the range to the other at f/1, as a share of the image's longer side. */
const RELATIVE = 0.12;

export function lensFor(result: DepthResult): Lens {
  const { depth, unit } = result;
  const projection = projectionOf(result);
  const [least, greatest] = validRange(depth);
  switch (projection.kind) {
    case "pinhole": {
      const inverse = unit === "m"; // dioptres are already inverse
      const nearest = inverse ? least : 1 / greatest;
      const focalLength = result.camera?.focalLength ?? assumedFocalLength(result, { pixels: projection.focalLength, nearest });
      const camera = { focalLength, pixelPitch: focalLength / projection.focalLength };
      const distance = (focus: number): number => Math.max(inverse ? focus : 1 / Math.max(focus, 1e-9), focalLength * 1.01);
      return {
        nearness: inverse ? (value) => 1 / value : (value) => value,
        gain: ({ focus, fNumber }) => blurPerDioptre({ ...camera, fNumber }, distance(focus)) / 2, // eq. 9 in dioptres, half of it
      };
    }
    case "orthographic": // a microscope's cone of light has the same slope everywhere: its diameter is Δz / N
      return { nearness: (value) => -value, gain: ({ fNumber }) => 1 / (2 * fNumber * projection.pixelSize) };
    case "relief": {
      const radius = (RELATIVE * Math.max(depth.width, depth.height)) / 2 / (greatest - least || 1);
      const sign = depth.space === "disparity" ? 1 : -1;
      return { nearness: (value) => sign * value, gain: ({ fNumber }) => radius / fNumber };
    }
  }
}

function assumedFocalLength({ depth }: DepthResult, { pixels, nearest }: { pixels: number; nearest: number }): number {
  const fullFrame = (SENSOR * pixels) / Math.max(depth.width, depth.height);
  return nearest > 0 ? Math.min(fullFrame, nearest / NEAREST) : fullFrame;
}
