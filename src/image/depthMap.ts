import type { Size } from "./image.ts";

/**
 * What the numbers of `focusDistances` and of a depth map mean.
 * `depth`: metres, growing away from the camera. `position`: metres from the first plane, where only the travel between planes is known
 * (microscopes). `disparity`: larger is nearer (DDFF 12-Scene, light fields). `index`: plane index, nothing metric is known.
 */
export type Space = "depth" | "position" | "disparity" | "index";

/** Depth (or disparity, or plane index: see `space`) of every pixel, row by row. `valid[i]` is 1 where the value is known. */
export interface DepthMap extends Size {
  readonly values: Float32Array;
  readonly valid: Uint8Array;
  readonly space: Space;
}

/** Without `valid`, every finite value counts as known. */
export function depthMap({ width, height, values, space, valid }: Omit<DepthMap, "valid"> & { readonly valid?: Uint8Array }): DepthMap {
  const pixels = width * height;
  if (values.length !== pixels) throw new RangeError(`depthMap: ${width}×${height} needs ${pixels} values, got ${values.length}`);
  if (valid && valid.length !== pixels)
    throw new RangeError(`depthMap: ${width}×${height} needs ${pixels} mask values, got ${valid.length}`);
  return { width, height, values, space, valid: valid ?? finiteOnly(values) };
}

function finiteOnly(values: Float32Array): Uint8Array {
  const valid = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) valid[i] = Number.isFinite(values[i]) ? 1 : 0;
  return valid;
}
