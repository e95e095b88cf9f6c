import type { FocalStack } from "../stack/focalStack.ts";
import { DFV_LEAST_SIDE } from "../model/dfv.ts";
import { SIZE_MULTIPLE } from "../model/encoder.ts";
import { DEFAULT_ERROR_MODEL, type Average, type ErrorModel, type NetworkFacts } from "./facts.ts";
import { focusProbability, MOST_PLANES, type FocusProbability, type PredictOptions } from "./focusProbability.ts";
import { hasFixedSize, type GraphRuntime } from "./graphs.ts";
import type { Device, Session } from "./session.ts";
import { createStages } from "./stages.ts";
import type { Model } from "./weightsFile.ts";

/**
 * A network ready to run: the only thing that the command, the page, the server and the evaluation know of a network. Padding, tiles, windows
 * of planes and the graphs they need are internal to it.
 */
export interface DepthNetwork {
  /** What its weights file says about it. */
  readonly facts: NetworkFacts;
  /** Unit in which eq. 6 averages metres. */
  readonly average: Average;
  /** Expected error by what p and the images show. */
  readonly errorModel: ErrorModel;
  /** For the user: which facts are missing, and what is assumed instead. */
  readonly notes: readonly string[];
  readonly device: Device;
  /** Why this device. */
  readonly reason: string;
  /** p of an aligned stack. One stack at a time: wait for the answer before the next. */
  predict(stack: FocalStack, options?: PredictOptions): Promise<FocusProbability>;
  /** Frees its memory; it must not be used again. */
  dispose(): Promise<void>;
}

/** What a network runs in. */
export interface NetworkRuntime {
  /** The whole network. */
  readonly session: Session;
  /** Why it runs there. */
  readonly reason: string;
  /** Loads the graphs of its stages, for stacks that do not fit one run; without it their tiles are processed independently. */
  readonly load?: GraphRuntime["load"] | undefined;
}

/** The same in Node and in browsers; `openNetwork` of either finds the runtime. */
export function createDepthNetwork({ config, weights, facts }: Model, { session, reason, load }: NetworkRuntime): DepthNetwork {
  const isCut = load && config.kind === "dualfocus" && !hasFixedSize(config);
  const stages = isCut ? createStages({ config, weights, forCpu: session.device === "cpu" }, load) : undefined;
  const least = config.kind === "dfv" ? DFV_LEAST_SIDE : SIZE_MULTIPLE;
  const mostPlanes = Math.max(MOST_PLANES, facts.planes?.[1] ?? 0);
  return {
    facts,
    average: facts.average ?? "metres",
    errorModel: facts.errorModel ?? DEFAULT_ERROR_MODEL,
    notes: missingFacts(facts),
    device: session.device,
    reason,
    predict: (stack, options) => focusProbability(stack, { ...options, session, stages: stages?.open, least, mostPlanes }),
    async dispose() {
      await Promise.all([session.dispose(), stages?.dispose()]);
    },
  };
}

const missingFacts = ({ average }: NetworkFacts): string[] =>
  average === undefined ? ["the weights do not say how they average depth: the arithmetic mean (eq. 6) is used"] : [];
