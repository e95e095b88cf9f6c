import { laplacianDepth } from "../classical/modifiedLaplacian.ts";
import { ringDifferenceDepth } from "../classical/ringDifference.ts";
import { estimateDepth } from "../depth/estimate.ts";
import { finishDepth } from "../depth/finish.ts";
import type { DepthMap } from "../image/depthMap.ts";
import type { FocusProbability } from "../metrics/focusTrend.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import type { FocalStack } from "../stack/focalStack.ts";

export interface Estimate {
  /** In the space and at the size of the stack. */
  readonly depth: DepthMap;
  /** Networks only. */
  readonly focusProbability?: FocusProbability;
  /** The claimed ±e, in the unit of the depth, and the confidence, which follows from it in planes. Networks only. */
  readonly error?: Float32Array;
  readonly confidence?: Float32Array;
  /** The depth as `dualfocus depth` saves it: finished. Networks only. */
  readonly finished?: DepthMap;
}

/** Anything that turns a stack into depth. */
export interface Predictor {
  readonly name: string;
  /** Identifies the predictor's results: those kept from an earlier run are used only if it is the same. */
  readonly fingerprint: string;
  predict(stack: FocalStack): Promise<Estimate>;
  dispose(): Promise<void>;
}

/** A network on the path of `dualfocus depth`, at the stack's own size and without alignment. */
export function networkPredictor(network: DepthNetwork, about: Pick<Predictor, "name" | "fingerprint">): Predictor {
  return {
    ...about,
    async predict(stack) {
      const estimate = await estimateDepth(stack, { network });
      const { depth, probability, error, confidence } = estimate;
      return { depth, focusProbability: probability, error, confidence, finished: finishDepth(estimate).depth };
    },
    dispose: () => network.dispose(),
  };
}

const CLASSICAL = { laplacian: laplacianDepth, rdf: ringDifferenceDepth } as const;

export type ClassicalName = keyof typeof CLASSICAL;

export const CLASSICAL_NAMES = Object.keys(CLASSICAL) as readonly ClassicalName[];

export const isClassicalName = (name: string): name is ClassicalName => name in CLASSICAL;

/** The classical methods with their default settings. */
export function classicalPredictor(name: ClassicalName): Predictor {
  return {
    name,
    fingerprint: name,
    predict: (stack) => Promise.resolve({ depth: CLASSICAL[name](stack).depth }),
    dispose: () => Promise.resolve(),
  };
}
