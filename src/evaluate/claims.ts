import { expectedPlanes, planeMoments } from "../depth/maps.ts";
import type { DepthMap } from "../image/depthMap.ts";
import { sparsificationArea } from "../metrics/sparsification.ts";
import type { ImageMetrics } from "./imageMetrics.ts";
import type { Estimate } from "./predictor.ts";
import { textureThirds } from "./untextured.ts";

type Claims = Pick<
  ImageMetrics,
  "withinError" | "withinErrorTextured" | "withinErrorUntextured" | "sparsification" | "sparsificationBySpread"
>;

const NONE: Claims = {
  withinError: NaN,
  withinErrorTextured: NaN,
  withinErrorUntextured: NaN,
  sparsification: NaN,
  sparsificationBySpread: NaN,
};

interface Truth {
  readonly trueDepth: DepthMap;
  /** The truth in planes, valid where the error is claimed: within half a plane of the stack's range. */
  readonly within: DepthMap;
  readonly strength: Float32Array;
}

/** How far the claimed errors of an estimate hold (docs/confidence.md). NaN for methods that claim none. */
export function measureClaims({ trueDepth, within, strength }: Truth, { depth, error, confidence, focusProbability }: Estimate): Claims {
  if (!error || !confidence || !focusProbability) return NONE;
  const truth = { ...trueDepth, valid: within.valid };
  const off = depth.values.map((value, i) => Math.abs(value - (trueDepth.values[i] as number)));
  const shareWithin = ({ valid }: DepthMap): number => {
    let [count, held] = [0, 0];
    for (let i = 0; i < off.length; i++) {
      if (!valid[i]) continue;
      count += 1;
      if ((off[i] as number) <= (error[i] as number)) held += 1;
    }
    return held / count;
  };
  const claimed = (values: Float32Array): Float32Array => values.filter((_, i) => truth.valid[i] === 1);
  const errors = claimed(off.map((value, i) => (value / (error[i] as number)) * expectedPlanes(confidence[i] as number)));
  const [untextured, , textured] = textureThirds(truth, strength);
  return {
    withinError: shareWithin(truth),
    withinErrorTextured: shareWithin(textured),
    withinErrorUntextured: shareWithin(untextured),
    sparsification: sparsificationArea(errors, claimed(confidence.map((value) => -value))),
    sparsificationBySpread: sparsificationArea(errors, claimed(planeMoments(focusProbability).deviations)),
  };
}
