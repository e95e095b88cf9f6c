import { firstLine } from "../../../src/errors.ts";
import { startRuntime } from "../../../src/network/browser/onnxSession.ts";
import { openNetwork } from "../../../src/network/browser/openNetwork.ts";
import type { DepthNetwork } from "../../../src/network/depthNetwork.ts";
import { PATHS, type EngineInfo } from "../contract.ts";
import { chooseDevice, lookAround } from "./device.ts";
import type { EngineWish, Event } from "./protocol.ts";
import { download, findWeights } from "./weights.ts";

declare const __WEIGHTS__: string;
declare const __RUNTIME_BYTES__: Readonly<Record<string, number>>;

export interface NetworkEngine {
  readonly network: DepthNetwork;
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
  const [offer, { wereKept, read }] = await Promise.all([
    lookAround(),
    findWeights(new URL(PATHS.weights, page).href, { version: __WEIGHTS__ }),
  ]);
  const wanted = chooseDevice(offer, wish);
  let reading: Promise<Uint8Array> | undefined; // once, for a second device too
  const weights = (): Promise<Uint8Array> => (reading ??= read(stage("weights", onEvent)));
  const load = async (info: EngineInfo): Promise<NetworkEngine> => {
    const network = await openIn(weights, { info, page, showRuntime: !wereKept, onEvent });
    return { network: oneAtATime(network), info, seconds: (performance.now() - begin) / 1000 };
  };
  if (wanted.device === "wasm") return load(wanted);
  return load(wanted).catch(async (cause: unknown) => {
    await weights(); // if these failed, it was not WebGPU
    return load(onProcessor(chooseDevice({ ...offer, adapter: "refused" }, wish), cause));
  });
}

/** A network runs one stack at a time: the first look, the run and the figures wait for one another. */
function oneAtATime(network: DepthNetwork): DepthNetwork {
  let busy: Promise<unknown> = Promise.resolve();
  const predict: DepthNetwork["predict"] = (stack, options) => {
    const answer = busy.then(() => {
      options?.signal?.throwIfAborted();
      return network.predict(stack, options);
    });
    busy = answer.catch(() => undefined);
    return answer;
  };
  return { ...network, predict };
}

/** The same network on the processor, after the graphics card failed in the middle of a run. */
export async function restartOnProcessor({ page, wish }: EngineRequest, cause: unknown, onEvent: OnEvent): Promise<NetworkEngine> {
  const engine = await startEngine({ page, wish: { ...wish, device: "wasm" } }, onEvent);
  return { ...engine, info: onProcessor(engine.info, cause) };
}

function onProcessor(info: EngineInfo, cause: unknown): EngineInfo {
  const place = info.threads > 1 ? `Processor, ${info.threads} threads` : "Processor, one thread";
  return { ...info, reason: `${place}: WebGPU does not work here (${firstLine(cause)}).` };
}

interface Loading {
  readonly info: EngineInfo;
  readonly page: string;
  /** Whether the runtime is yet to come over the network. */
  readonly showRuntime: boolean;
  readonly onEvent: OnEvent;
}

/** The runtime is compiled while the weights come. */
async function openIn(weights: () => Promise<Uint8Array>, { info, page, showRuntime, onEvent }: Loading): Promise<DepthNetwork> {
  const device = info.device === "webgpu" ? "webgpu" : "wasm";
  const runtime = { device, threads: info.threads, wasmPath: new URL(PATHS.runtime, page).href } as const;
  // The runtime fetches this file itself; the first time, it comes here before, so that the user sees it come.
  const file = RUNTIME_FILE[device];
  if (showRuntime) await download(`${runtime.wasmPath}${file}`, { onBytes: stage("runtime", onEvent), total: __RUNTIME_BYTES__[file] });
  const [bytes] = await Promise.all([weights(), startRuntime(runtime)]);
  stage("graph", onEvent)(0, 1);
  const network = await openNetwork(bytes, { ...runtime, fields: true });
  stage("graph", onEvent)(1, 1);
  return network;
}

const stage =
  (name: "weights" | "runtime" | "graph", onEvent: OnEvent) =>
  (done: number, of: number): void => {
    onEvent({ kind: "stage", stage: name, done, of });
  };
