import { expectedPlanes, planeMoments } from "../depth/maps.ts";
import type { DepthMap } from "../image/depthMap.ts";
import { quantile } from "../image/quantile.ts";
import { sparsificationArea } from "../metrics/sparsification.ts";
import type { ImageMetrics, WallParts } from "./imageMetrics.ts";
import type { Estimate } from "./predictor.ts";
import { textureThirds } from "./untextured.ts";

const NAMES = [
  ...(["withinError", "withinErrorTextured", "withinErrorUntextured", "sparsification", "sparsificationBySpread"] as const),
  ...(["withinErrorWall", "withinErrorBeside", "claimedErrorWall", "claimedErrorBeside"] as const),
] as const;

type Claims = Pick<ImageMetrics, (typeof NAMES)[number]>;

const NONE = Object.fromEntries(NAMES.map((name) => [name, NaN])) as unknown as Claims;

interface Truth {
  readonly trueDepth: DepthMap;
  /** The truth in planes, valid where the error is claimed: within half a plane of the stack's range. */
  readonly within: DepthMap;
  readonly strength: Float32Array;
  readonly wall: WallParts | undefined;
}

/** How far the claimed errors of an estimate hold (docs/confidence.md). NaN for methods that claim none. */
export function measureClaims(
  { trueDepth, within, strength, wall }: Truth,
  { depth, error, confidence, focusProbability }: Estimate,
): Claims {
  if (!error || !confidence) return NONE;
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
  const medianClaim = ({ valid }: DepthMap): number => {
    const claims = confidence.filter((_, i) => valid[i] === 1).map((value) => expectedPlanes(value));
    return claims.length > 0 ? quantile(claims, 0.5) : NaN;
  };
  const claimed = (values: Float32Array): Float32Array => values.filter((_, i) => truth.valid[i] === 1);
  const errors = claimed(off.map((value, i) => (value / (error[i] as number)) * expectedPlanes(confidence[i] as number)));
  const [untextured, , textured] = textureThirds(truth, strength);
  return {
    withinError: shareWithin(truth),
    withinErrorTextured: shareWithin(textured),
    withinErrorUntextured: shareWithin(untextured),
    sparsification: sparsificationArea(errors, claimed(confidence.map((value) => -value))),
    sparsificationBySpread: focusProbability ? sparsificationArea(errors, claimed(planeMoments(focusProbability).deviations)) : NaN,
    withinErrorWall: wall ? shareWithin(wall.whole) : NaN,
    withinErrorBeside: wall ? shareWithin(wall.beside) : NaN,
    claimedErrorWall: wall ? medianClaim(wall.whole) : NaN,
    claimedErrorBeside: wall ? medianClaim(wall.beside) : NaN,
  };
}
