import type * as OnnxRuntime from "onnxruntime-node";
import { failingAs, wrapSession, type Session } from "../session.ts";

export interface NodeSessionOptions {
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
async function loadRuntime(): Promise<typeof OnnxRuntime> {
  process.env["ORT_DISABLE_TELEMETRY"] ??= "1";
  return import("onnxruntime-node");
}

/** Loads a graph into onnxruntime-node. */
export async function createNodeSession(
  model: Uint8Array,
  { device = "cpu", threads = 0, keepMemory = true }: NodeSessionOptions = {},
): Promise<Session> {
  const { InferenceSession, Tensor } = await loadRuntime();
  const session = await failingAs(`loading the graph on ${device}`, () =>
    InferenceSession.create(model, {
      executionProviders: device === "webgpu" ? ["webgpu", "cpu"] : ["cpu"],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      enableCpuMemArena: keepMemory,
      graphOptimizationLevel: "all",
      logSeverityLevel: 3, // errors; the warnings are about where operations were placed
    }),
  );
  return wrapSession(session, { Tensor, device });
}
