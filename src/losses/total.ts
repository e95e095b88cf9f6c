import { z } from "zod";
import type { Tensor } from "../engine/engine.ts";
import type { Prediction } from "../model/network.ts";
import { focalTrendLoss, focalVariationalLoss, TREND } from "./focalVariational.ts";
import { smoothL1 } from "./smoothL1.ts";
import { spatialOptions, spatialVariationalLoss, type SpatialTruth } from "./spatialVariational.ts";

const weight = z.number().min(0);

export const lossConfig = z
  .strictObject({
    /** λ_sv and λ_fv of eq. 8, and the weight of our own `focalTrendLoss`; 0 leaves a part out. */
    weights: z.strictObject({ spatial: weight, focal: weight, trend: weight }).readonly(),
    /** β of the smooth L1, in the unit of the depth. */
    beta: z.number().positive(),
    spatial: spatialOptions,
    /** Weights of the finest and each coarser prediction; DFV has four. */
    levels: z.array(weight).min(1).readonly(),
  })
  .readonly();
export type LossConfig = z.infer<typeof lossConfig>;

/** §3.5, A.1 and Table 6. */
export const paperLoss: LossConfig = {
  weights: { spatial: 20, focal: 100, trend: 0 },
  beta: 1,
  spatial: { planeWeight: "sharpness", temperature: 1, supervise: "surface" },
  levels: [1],
};

/** DFV's: smooth L1 on its four levels, finest first. */
export const dfvLoss: LossConfig = { ...paperLoss, weights: { spatial: 0, focal: 0, trend: 0 }, levels: [8 / 15, 4 / 15, 2 / 15, 1 / 15] };

export interface LossParts {
  readonly total: Tensor;
  readonly depth: Tensor;
  readonly spatial: Tensor;
  readonly focal: Tensor;
}

/** L = L_depth + λ_sv L_sv + λ_fv L_fv (eq. 8), each part by name (unweighted). */
export function totalLoss(prediction: Prediction, truth: SpatialTruth, config: LossConfig): LossParts {
  const { weights } = config;
  const zero = truth.trueDepth.engine.full([], 0, { dtype: prediction.depth.dtype });

  const ofPlanes = planeLosses(prediction, truth, config);
  const depth = [prediction, ...prediction.coarser]
    .slice(0, config.levels.length)
    .map((level, i) => (i === 0 ? ofPlanes.depth() : smoothL1({ ...truth, depth: level.depth }, config)).mul(config.levels[i] ?? 0))
    .reduce((sum, part) => sum.add(part));
  const spatial = prediction.spatial && weights.spatial !== 0 ? spatialVariationalLoss(prediction.spatial, truth, config.spatial) : zero;
  const focal = weights.focal === 0 ? zero : ofPlanes.focal();
  const eq8 = depth.add(spatial.mul(weights.spatial)).add(focal.mul(weights.focal));
  const total = weights.trend === 0 ? eq8 : eq8.add(ofPlanes.trend().mul(weights.trend));
  return { total, depth, spatial, focal };
}

interface PlaneLosses {
  readonly depth: () => Tensor;
  readonly focal: () => Tensor;
  readonly trend: () => Tensor;
}

/** The losses of the finest prediction; all from p in one pass, as D̂ = Σ p f (eq. 6), where the engine has a kernel for them. */
function planeLosses(
  { depth, focusProbability: p }: Prediction,
  { trueDepth, valid, focusDistances }: SpatialTruth,
  { weights, beta }: LossConfig,
): PlaneLosses {
  const isDepthAlone = weights.focal === 0 && weights.trend === 0;
  const means = isDepthAlone ? undefined : p.engine.planeLosses?.({ p, focusDistances, trueDepth, valid }, { beta, ...TREND });
  if (means) {
    const mean = (i: number) => (): Tensor => means.slice(0, { start: i, end: i + 1 }).squeeze(0);
    return { depth: mean(0), focal: mean(1), trend: mean(2) };
  }
  return {
    depth: () => smoothL1({ depth, trueDepth, valid }, { beta }),
    focal: () => focalVariationalLoss({ focusProbability: p, valid }),
    trend: () => focalTrendLoss({ focusProbability: p, valid }),
  };
}
