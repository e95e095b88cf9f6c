import type { DepthMap, Space } from "../image/depthMap.ts";
import type { DepthEstimate } from "./estimate.ts";

/*
 * Depth is finished in the scale in which blur changes evenly: dioptres in place of metres, in which a plane in space is a plane, too, and an error is as large on either side of a depth edge. Disparities, positions and
 * plane indices are even as they are.
 */

/** A depth map in its even scale. */
export const evenDepth = (depth: DepthMap): DepthMap =>
  depth.space === "depth" ? { ...depth, values: reciprocals(depth.values), space: "disparity" } : depth;

/** The expected errors of a depth map in its even scale: |d(1/x)| = dx / x². */
export const evenErrors = ({ depth, error }: Pick<DepthEstimate, "depth" | "error">): Float32Array =>
  depth.space === "depth" ? error.map((each, i) => each / (depth.values[i] as number) ** 2) : error;

/** An even depth map back in the space that it was in. */
export const inSpace = (space: Space, even: DepthMap): DepthMap => ({ ...even, values: valuesInSpace(space, even.values), space });

export const valuesInSpace = (space: Space, even: Float32Array): Float32Array => (space === "depth" ? reciprocals(even) : even);

function reciprocals(values: Float32Array): Float32Array {
  const out = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = 1 / (values[i] as number);
  return out;
}
