import { createDepthNetwork, type DepthNetwork } from "../depthNetwork.ts";
import { createGraphs, hasFixedSize, isRecordable } from "../graphs.ts";
import type { Session } from "../session.ts";
import { readModel, type Model } from "../weightsFile.ts";
import { createOnnxSession, type OnnxSessionOptions } from "./onnxSession.ts";

export interface OpenOptions extends OnnxSessionOptions {
  /** Also return Γ, z* and θ_grad(z*) if the stack fits one run. */
  readonly fields?: boolean;
}

/** Opens a network in this page or worker: a weights file by its URL or as bytes, or a model that has been read. */
export async function openNetwork(
  model: string | URL | Uint8Array | Model,
  { fields = false, ...options }: OpenOptions = {},
): Promise<DepthNetwork> {
  const { device = "wasm" } = options;
  const read = await readAny(model);
  if (!isRecordable(read.config)) throw new Error("this network's surface needs a linear solve, which no browser runs");
  const load = (graph: Uint8Array): Promise<Session> => createOnnxSession(graph, options);
  const session = await createGraphs(read, { device, load }, { fields });
  if (device === "webgpu" && !hasFixedSize(read.config)) await checkSession(session);
  return createDepthNetwork(read, { session, reason: `${device}, as asked for`, load });
}

async function readAny(model: string | URL | Uint8Array | Model): Promise<Model> {
  if (model instanceof Uint8Array) return readModel(model, "the weights");
  if (typeof model === "object" && "weights" in model) return model;
  const response = await fetch(model);
  if (!response.ok) throw new Error(`${String(model)} cannot be loaded: the server answers ${response.status}`);
  return readModel(new Uint8Array(await response.arrayBuffer()), String(model));
}

/** Drivers have bugs: p of a small stack must be a probability, and not constant. */
async function checkSession(session: Session): Promise<void> {
  const [planes, side] = [3, 64];
  const pixels = Float32Array.from({ length: planes * 3 * side * side }, (_, i) => ((i * 7919) % 251) / 250);
  const { probability } = await session.run({
    images: { data: pixels, shape: [1, planes, 3, side, side] },
    focusDistances: { data: Float32Array.of(0, 1, 2), shape: [1, planes] },
  });
  const p = probability?.data as Float32Array;
  const area = side * side;
  const sums = Array.from({ length: area }, (_, i) => (p[i] as number) + (p[area + i] as number) + (p[2 * area + i] as number));
  const isProbability = sums.every((sum) => Math.abs(sum - 1) < 1e-3) && p.every((value) => value >= 0);
  if (!isProbability || p.every((value) => value === p[0])) throw new Error("it computes wrong numbers");
}
