import type { Session } from "../../../src/network/session.ts";
import { loadStages, type StageSessions } from "../../../src/network/stages.ts";
import { createWebSession } from "../../../src/network/browser/webSession.ts";
import { recordGraph } from "../../../src/model/graph.ts";
import { recordStages } from "../../../src/model/stages.ts";
import type { NetworkFacts } from "../../../src/network/facts.ts";
import { readModel, type Model } from "../../../src/network/weightsFile.ts";
import { PATHS, type EngineInfo } from "../contract.ts";
import { chooseDevice, lookAround } from "./device.ts";
import type { EngineWish, Event } from "./protocol.ts";
import { download, loadWeights } from "./weights.ts";

declare const __WEIGHTS__: string;

export interface NetworkEngine {
  readonly session: Session;
  /** The same network in stages, for stacks that do not fit one run. */
  readonly stages: () => Promise<StageSessions>;
  readonly facts: NetworkFacts;
  readonly info: EngineInfo;
  /** Spent on weights, runtime and graph. */
  readonly seconds: number;
}

/** The large file each build of ONNX Runtime loads. */
const RUNTIME_FILE = { webgpu: "ort-wasm-simd-threaded.asyncify.wasm", wasm: "ort-wasm-simd-threaded.wasm" } as const;

export interface EngineRequest {
  /** Address of the page: weights and runtime lie beside it. */
  readonly page: string;
  readonly wish: EngineWish;
}

type OnEvent = (event: Event) => void;

/** Loads weights and runtime, and makes the network ready. Where WebGPU fails the processor is taken, and the reason says so. */
export async function startEngine({ page, wish }: EngineRequest, onEvent: OnEvent): Promise<NetworkEngine> {
  const begin = performance.now();
  const offer = await lookAround();
  const wanted = chooseDevice(offer, wish);
  const { bytes, wereKept } = await loadWeights(new URL(PATHS.weights, page).href, {
    version: __WEIGHTS__,
    onBytes: stage("weights", onEvent),
  });
  const model = readModel(bytes, PATHS.weights);
  const load = async (info: EngineInfo): Promise<NetworkEngine> => {
    const sessions = await loadSessions(model, { info, page, showRuntime: !wereKept, onEvent });
    return { ...sessions, facts: model.facts, info, seconds: (performance.now() - begin) / 1000 };
  };
  if (wanted.device === "wasm") return load(wanted);
  return load(wanted).catch((cause: unknown) => load(onProcessor(chooseDevice({ ...offer, adapter: "none" }, wish), cause)));
}

/** The same network on the processor, after the graphics card failed in the middle of a run. */
export async function restartOnProcessor({ page, wish }: EngineRequest, cause: unknown, onEvent: OnEvent): Promise<NetworkEngine> {
  const engine = await startEngine({ page, wish: { ...wish, device: "wasm" } }, onEvent);
  return { ...engine, info: onProcessor(engine.info, cause) };
}

function onProcessor(info: EngineInfo, cause: unknown): EngineInfo {
  const place = info.threads > 1 ? `Processor, ${info.threads} threads` : "Processor, one thread";
  const [failure = ""] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
  return { ...info, reason: `${place}: WebGPU does not work here (${failure}).` };
}

interface Loading {
  readonly info: EngineInfo;
  readonly page: string;
  /** Whether the runtime is yet to come over the network. */
  readonly showRuntime: boolean;
  readonly onEvent: OnEvent;
}

async function loadSessions(
  model: Model,
  { info, page, showRuntime, onEvent }: Loading,
): Promise<Pick<NetworkEngine, "session" | "stages">> {
  const device = info.device === "webgpu" ? "webgpu" : "wasm";
  const options = { device, threads: info.threads, wasmPath: new URL(PATHS.runtime, page).href } as const;
  // The runtime fetches this file itself; the first time, it comes here before, so that the user sees it come.
  if (showRuntime) await download(`${options.wasmPath}${RUNTIME_FILE[device]}`, stage("runtime", onEvent));
  stage("graph", onEvent)(0, 1);
  const session = await createWebSession(recordGraph({ ...model, fields: true }), options);
  if (device === "webgpu") await checkSession(session);
  stage("graph", onEvent)(1, 1);
  let stages: Promise<StageSessions> | undefined;
  return { session, stages: () => (stages ??= loadStages(recordStages(model), (graph) => createWebSession(graph, options))) };
}

/** Drivers have bugs: p of a small stack must be a probability that differs from place to place. */
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

const stage =
  (name: "weights" | "runtime" | "graph", onEvent: OnEvent) =>
  (done: number, of: number): void => {
    onEvent({ kind: "stage", stage: name, done, of });
  };
