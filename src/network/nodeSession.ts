import { failingAs, wrapSession, type Session } from "./session.ts";

export interface NodeSessionOptions {
  /** `webgpu` needs a GPU with Vulkan, Metal or D3D12. */
  readonly device?: "cpu" | "webgpu";
  /** Threads of one operation on the CPU; 0 lets ONNX Runtime use every core. */
  readonly threads?: number;
  /** Keep a run's memory for the next one, a little faster; without, it is given back after each run. */
  readonly keepMemory?: boolean;
}

/** Loads a graph into onnxruntime-node. It is imported here and only when called, so that no browser bundle holds it. */
export async function createNodeSession(
  model: Uint8Array,
  { device = "cpu", threads = 0, keepMemory = true }: NodeSessionOptions = {},
): Promise<Session> {
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
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
