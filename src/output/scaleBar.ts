import { projectionOf } from "./projection.ts";
import { validRange } from "./result.ts";
import type { DepthResult } from "./result.ts";
import { displayUnit, niceStep } from "./ticks.ts";

export interface ScaleBar {
  /** In pixels of the depth map. */
  readonly pixels: number;
  readonly label: string;
}

/**
 * A bar of a round length, at most a quarter of `within` pixels long: valid everywhere under a microscope, at the middle depth for a camera.
 * Undefined if lengths are unknown or only assumed.
 */
export function scaleBar(result: DepthResult, { within = result.depth.width }: { within?: number } = {}): ScaleBar | undefined {
  const { depth, unit } = result;
  const projection = projectionOf(result);
  if (unit !== "m" || projection.kind === "relief" || (projection.kind === "pinhole" && projection.assumed)) return undefined;
  const [least, greatest] = validRange(depth);
  const distance = (least + greatest) / 2;
  const perPixel = projection.kind === "orthographic" ? projection.pixelSize : distance / projection.focalLength;
  const length = niceStep((within * perPixel) / 4);
  const named = (metres: number): string => {
    const { factor, name } = displayUnit("m", metres);
    return `${Number((metres * factor).toPrecision(2))} ${name}`;
  };
  const pixels = length / perPixel;
  if (!(pixels > 0 && pixels < within)) return undefined;
  return { pixels, label: projection.kind === "orthographic" ? named(length) : `${named(length)} at ${named(distance)}` };
}
