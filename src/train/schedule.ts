import type { TrainConfig } from "./config.ts";

/**
 * Learning rate: cosine from `from` to `to` over `progress` (share of the run that is done, 0 to 1), times the warm-up.
 *
 *     to + (from − to) (1 + cos π·progress) / 2 · min(1, (step + 1) / warmUpSteps)
 */
export function cosineRate(
  { from, to, warmUpSteps }: TrainConfig["learningRate"],
  { progress, step }: { readonly progress: number; readonly step: number },
): number {
  const done = Math.min(Math.max(progress, 0), 1);
  const warmth = warmUpSteps > 0 ? Math.min(1, (step + 1) / warmUpSteps) : 1;
  return (to + ((from - to) * (1 + Math.cos(Math.PI * done))) / 2) * warmth;
}
