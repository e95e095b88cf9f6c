import { edgesOfImage } from "./edges.ts";
import type { DepthEstimate } from "./estimate.ts";
import { evenDepth, evenErrors, inSpace } from "./evenScale.ts";
import { fillDepth, type FilledDepth } from "./fill.ts";
import { withoutGrain } from "./grain.ts";

export type Finishable = Pick<DepthEstimate, "depth" | "error" | "confidence" | "unfounded" | "unrest" | "allInFocus">;

/** The depth to show and to save: its edges moved to those of the image, plain areas filled, grain smoothed, in this order. `covered` is 0 where a frame was moved out of the image. */
export function finishDepth(estimate: Finishable, covered?: Uint8Array): FilledDepth {
  const { confidence, unfounded, unrest, allInFocus } = estimate;
  const error = evenErrors(estimate);
  const edges = edgesOfImage({ depth: evenDepth(estimate.depth), error, confidence, allInFocus }, covered);
  const { depth, filled } = fillDepth({ depth: edges, confidence, unfounded, unrest, allInFocus }, covered);
  return { depth: inSpace(estimate.depth.space, withoutGrain({ depth, error })), filled };
}
