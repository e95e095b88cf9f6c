import { edgesOfImage } from "./edges.ts";
import type { DepthEstimate } from "./estimate.ts";
import { fillDepth, type FilledDepth } from "./fill.ts";
import { withoutGrain } from "./grain.ts";

/** A depth map as people want it: its edges where the image has them, without grain, plain areas filled. `covered` is 0 where a frame was moved out of the image. */
export function finishDepth(estimate: DepthEstimate, covered?: Uint8Array): FilledDepth {
  const edges = edgesOfImage(estimate, covered);
  const smooth = withoutGrain({ ...estimate, depth: edges });
  return fillDepth({ ...estimate, depth: smooth }, covered);
}
