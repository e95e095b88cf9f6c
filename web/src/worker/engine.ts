import type { Session } from "../../../src/infer/session.ts";
import { createWebSession } from "../../../src/infer/web.ts";
import { recordGraph } from "../../../src/model/graph.ts";
import { readModel } from "../../../src/model/weightsFile.ts";
import { PATHS, type EngineInfo } from "../contract.ts";
import { chooseDevice, lookAround } from "./device.ts";
import type { EngineWish, Event } from "./protocol.ts";
import { download, loadWeights } from "./weights.ts";

declare const __WEIGHTS__: string;

export interface NetworkEngine {
  readonly session: Session;
  readonly info: EngineInfo;
  /** Spent on weights, runtime and graph. */
  readonly seconds: number;
}

/** The large file each build of ONNX Runtime loads. */
const RUNTIME_FILE = { webgpu: "ort-wasm-simd-threaded.asyncify.wasm", wasm: "ort-wasm-simd-threaded.wasm" } as const;

/** Loads weights and runtime, and makes the network ready. Where WebGPU fails the processor is taken, and the reason says so. */
export async function startEngine(
  { page, wish }: { page: string; wish: EngineWish },
  onEvent: (event: Event) => void,
): Promise<NetworkEngine> {
  const begin = performance.now();
  const offer = await lookAround();
  const wanted = chooseDevice(offer, wish);
  const stage = (name: "weights" | "runtime" | "graph") => (done: number, of: number) => {
    onEvent({ kind: "stage", stage: name, done, of });
  };
  const { bytes, wereKept } = await loadWeights(new URL(PATHS.weights, page).href, { version: __WEIGHTS__, onBytes: stage("weights") });
  const model = readModel(bytes, PATHS.weights);
  const graph = recordGraph({ ...model, fields: true });
  const load = async (info: EngineInfo): Promise<NetworkEngine> => {
    const wasmPath = new URL(PATHS.runtime, page).href;
    // The runtime fetches this file itself; the first time, it comes here before, so that the user sees it come.
    if (!wereKept) await download(`${wasmPath}${RUNTIME_FILE[info.device === "webgpu" ? "webgpu" : "wasm"]}`, stage("runtime"));
    stage("graph")(0, 1);
    const session = await createWebSession(graph, {
      device: info.device === "webgpu" ? "webgpu" : "wasm",
      threads: info.threads,
      wasmPath,
    });
    stage("graph")(1, 1);
    return { session, info, seconds: (performance.now() - begin) / 1000 };
  };
  if (wanted.device === "wasm") return load(wanted);
  return load(wanted).catch((cause: unknown) => {
    const instead = chooseDevice({ ...offer, adapter: "none" }, { ...wish, device: "wasm" });
    const failed = cause instanceof Error ? cause.message : String(cause);
    return load({ ...instead, reason: `${placeOf(instead)}: WebGPU did not start (${failed}).` });
  });
}

const placeOf = ({ threads }: EngineInfo): string => (threads > 1 ? `Processor, ${threads} threads` : "Processor, one thread");
