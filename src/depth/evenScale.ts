import type { DepthMap } from "../image/depthMap.ts";
import type { DepthEstimate } from "./estimate.ts";

/** Depth and its expected errors, in one scale. */
export type Measured = Pick<DepthEstimate, "depth" | "error">;

/**
 * The same in the scale in which steps of blur are even: dioptres in place of metres, in which a plane in space is a plane, too, and an error is as large on either side of a depth edge. Other scales are even as they are.
 */
export function inEvenScale({ depth, error }: Measured): Measured {
  if (depth.space !== "depth") return { depth, error };
  return {
    depth: { ...depth, values: reciprocals(depth.values), space: "disparity" },
    error: error.map((each, i) => each / (depth.values[i] as number) ** 2), // |d(1/x)| = dx / x²
  };
}

/** An even depth map in the scale of another. */
export const inScaleOf = ({ space }: DepthMap, even: DepthMap): DepthMap =>
  space === "depth" ? { ...even, values: reciprocals(even.values), space } : even;

function reciprocals(values: Float32Array): Float32Array {
  const out = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = 1 / (values[i] as number);
  return out;
}
