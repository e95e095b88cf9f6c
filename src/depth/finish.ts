import type { DepthEstimate } from "./estimate.ts";
import { edgesOfImage } from "./edges.ts";
import { fillDepth, type FilledDepth } from "./fill.ts";

/** A depth map as people want it: its edges where the image has them, plain areas filled. `covered` is 0 where a frame was moved out of the image. */
export const finishDepth = (estimate: DepthEstimate, covered?: Uint8Array): FilledDepth =>
  fillDepth({ ...estimate, depth: edgesOfImage(estimate, covered) }, covered);
