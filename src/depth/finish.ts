import { edgesOfImage } from "./edges.ts";
import type { DepthEstimate } from "./estimate.ts";
import { inEvenScale, inScaleOf } from "./evenScale.ts";
import { fillDepth, type FilledDepth } from "./fill.ts";
import { withoutGrain } from "./grain.ts";

export type Finishable = Pick<DepthEstimate, "depth" | "error" | "confidence" | "unfounded" | "unrest" | "allInFocus">;

/** A depth map as people want it: its edges where the image has them, plain areas filled, without grain. `covered` is 0 where a frame was moved out of the image. */
export function finishDepth(estimate: Finishable, covered?: Uint8Array): FilledDepth {
  const { confidence, unfounded, unrest, allInFocus } = estimate;
  const { depth: measured, error } = inEvenScale(estimate);
  const edges = edgesOfImage({ depth: measured, error, confidence, allInFocus }, covered);
  const { depth, filled } = fillDepth({ depth: edges, confidence, unfounded, unrest, allInFocus }, covered);
  return { depth: inScaleOf(estimate.depth, withoutGrain({ depth, error })), filled };
}
