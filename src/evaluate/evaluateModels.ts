import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { DatasetError } from "../data/dataset.ts";
import type { DeviceName } from "../network/node/devices.ts";
import { loadModel } from "../network/node/loadModel.ts";
import { openNetwork } from "../network/node/openNetwork.ts";
import { packageVersion } from "../system/packageFolder.ts";
import { CLASSICAL_NAMES, classicalPredictor, isClassicalName, networkPredictor, type Predictor } from "./predictor.ts";
import { openEvaluationSet, type SetRequest } from "./protocol.ts";
import { fileStore } from "./results.ts";
import { evaluate, type Evaluation, type RunOptions } from "./run.ts";

export interface EvaluationRequest extends Omit<SetRequest, "planes"> {
  /** Networks that ship, weights files, classical methods. */
  readonly models: readonly string[];
  /** Numbers of planes, measured one after another; without it the protocol's, or all of each stack. */
  readonly planes?: readonly number[] | undefined;
  readonly limit?: number | undefined;
  readonly device: DeviceName;
  /** CPU threads of the networks; 0 for every core. */
  readonly threads: number;
  /** Folder for the result of each image; those of an earlier run are used. */
  readonly resumeDir?: string | undefined;
}

/** A model by its name. */
export type LoadPredictor = (name: string, options: { readonly device: DeviceName; readonly threads: number }) => Promise<Predictor>;

export const loadPredictor: LoadPredictor = async (name, { device, threads }) => {
  if (isClassicalName(name)) return classicalPredictor(name);
  const model = loadModel(name, { others: CLASSICAL_NAMES });
  const fingerprint = createHash("sha256")
    .update(await readFile(model.file))
    .digest("hex");
  const network = await openNetwork(model, { device, threads, many: true });
  return networkPredictor(network, { name, fingerprint: device === "cpu" ? fingerprint : `${fingerprint}-${device}` });
};

/** Measures models on a set by its published protocol. */
export async function evaluateModels(
  { models, planes: counts = [], resumeDir, ...request }: EvaluationRequest,
  { load = loadPredictor, ...options }: Pick<RunOptions, "onImage" | "show" | "onShown"> & { readonly load?: LoadPredictor } = {},
): Promise<Evaluation[]> {
  const { dataset, data = ".", limit } = request;
  const predictors = await Promise.all(models.map((name) => load(name, request)));
  const evaluations: Evaluation[] = [];
  try {
    for (const planes of counts.length === 0 ? [undefined] : counts) {
      const set = await openEvaluationSet({ ...request, planes });
      const run = { dataset, data: resolve(data), split: set.split, protocol: set.protocol, planes, version: packageVersion() };
      const storeFor = ({ name: model, fingerprint }: Predictor) => fileStore(resumeDir ?? "", { ...run, model, fingerprint });
      try {
        evaluations.push(...(await evaluate(set, predictors, { limit, ...options, ...(resumeDir !== undefined && { storeFor }) })));
      } catch (cause) {
        throw cause instanceof RangeError ? new DatasetError(cause.message, { cause }) : cause; // what cannot be measured
      } finally {
        set.close();
      }
    }
    return evaluations;
  } finally {
    for (const predictor of predictors) await predictor.dispose();
  }
}
