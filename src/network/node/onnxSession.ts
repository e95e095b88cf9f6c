import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { InferenceSessionFactory, TensorConstructor } from "onnxruntime-common";
import { packageFolder } from "../../system/packageFolder.ts";
import { failingAs, wrapSession, type Session } from "../session.ts";

export interface OnnxSessionOptions {
  /** `webgpu` needs a GPU with Vulkan, Metal or D3D12. */
  readonly device?: "cpu" | "webgpu";
  /** Threads of one operation on the CPU; 0 lets ONNX Runtime use every core. */
  readonly threads?: number;
  /** Keep a run's memory for the next one, a little faster; without, it is given back after each run. */
  readonly keepMemory?: boolean;
}

/**
 * ONNX Runtime, loaded when the first graph is. Since 1.30 it reports usage to Microsoft unless this variable is set: it looks up a host of
 * theirs, and leaves a device id and a database of events in the cache folder. It reads the variable when it is loaded, so this must be the
 * only import of it. (A worker thread of Node has a copy of the environment that native code does not see: set the variable outside.)
 */
async function loadRuntime(threads: number): Promise<Runtime> {
  process.env["ORT_DISABLE_TELEMETRY"] ??= "1";
  try {
    return await import("onnxruntime-node");
  } catch (error) {
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error; // of import, and of the bundle's require
    return loadWasmRuntime(threads);
  }
}

/** The built page holds the same runtime, so that those who use no other part of onnxruntime-web need not install it. */
const importFromPage = (): Promise<WasmRuntime> =>
  import(pathToFileURL(join(packageFolder(), "dist", "web", "runtime", "ort.node.min.mjs")).href) as Promise<WasmRuntime>;

interface WasmRuntime extends Runtime {
  readonly env: { readonly wasm: { numThreads?: number } };
}

interface Runtime {
  readonly InferenceSession: InferenceSessionFactory;
  readonly Tensor: TensorConstructor;
}

/**
 * onnxruntime-node is an optional dependency: its install script downloads CUDA libraries, which are not used here, and npm leaves the package
 * out where that fails. ONNX Runtime's WASM build then takes its place: the same results, more slowly.
 */
async function loadWasmRuntime(threads: number): Promise<Runtime> {
  const remedy = "ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node";
  process.emitWarning(`onnxruntime-node is not installed, so its slower WASM build is used. To install it: ${remedy}`);
  const runtime = await import("onnxruntime-web").catch(() => importFromPage());
  runtime.env.wasm.numThreads = threads === 0 ? availableParallelism() : threads;
  return runtime;
}

/** Loads a graph into ONNX Runtime. */
export async function createOnnxSession(
  model: Uint8Array,
  { device = "cpu", threads = 0, keepMemory = true }: OnnxSessionOptions = {},
): Promise<Session> {
  const { InferenceSession, Tensor } = await loadRuntime(threads);
  const session = await failingAs(`loading the graph on ${device}`, () =>
    InferenceSession.create(model, {
      executionProviders: device === "webgpu" ? ["webgpu", "cpu"] : ["cpu"],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      enableCpuMemArena: keepMemory,
      graphOptimizationLevel: "all",
      logSeverityLevel: 3, // errors; the warnings are about where operations were placed
      extra: { session: { intra_op: { allow_spinning: "0" } } }, // a fifth of the processor time would be spent on busy waiting
    }),
  );
  return wrapSession(session, { Tensor, device });
}
