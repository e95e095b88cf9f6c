import { batchSession } from "../batchSession.ts";
import { createDepthNetwork, type DepthNetwork } from "../depthNetwork.ts";
import { readModel, type Model } from "../weightsFile.ts";
import { openDevice, type DeviceName, type Machine } from "./devices.ts";
import { loadModel } from "./loadModel.ts";
import { createOnnxSession } from "./onnxSession.ts";

export interface OpenOptions {
  readonly device?: DeviceName;
  /** On the CPU; 0 for every core. */
  readonly threads?: number;
  /** Many stacks of one size will follow: on CUDA, search for the fastest kernels first. */
  readonly many?: boolean;
  /** Most stacks of one size that are predicted in one run if they are requested at the same time. */
  readonly together?: number;
  /** Also return Γ, z* and θ_grad(z*) if the stack fits one run. */
  readonly fields?: boolean;
}

/** Opens a network: the shipped `small` or `fine`, a weights file by its path or as bytes, or a model that has been read. */
export async function openNetwork(
  model: string | Uint8Array | Model,
  { device = "auto", threads = 0, many = false, together = 1, fields = false }: OpenOptions = {},
  machine?: Machine,
): Promise<DepthNetwork> {
  const read = typeof model === "string" ? loadModel(model) : model instanceof Uint8Array ? readModel(model, "the weights") : model;
  const { session, reason } = await openDevice({ model: read, device, threads, many, fields }, machine);
  if (together > 1) return createDepthNetwork(read, { session: batchSession(session, { most: together }), reason }); // its stages are for one stack at a time
  const { device: opened } = session;
  const load =
    opened === "cpu" || opened === "webgpu"
      ? (graph: Uint8Array, { keepMemory = true } = {}) => createOnnxSession(graph, { device: opened, threads, keepMemory })
      : undefined; // CUDA has the memory to do without stages
  return createDepthNetwork(read, { session, reason, load });
}
