import { createOnnxEngine } from "../../engine/onnx/onnxEngine.ts";
import { failingAs, wrapSession, type Session } from "../session.ts";

export interface OnnxSessionOptions {
  readonly device?: "webgpu" | "wasm";
  /** Threads of the WASM runtime; more than one needs a cross-origin isolated page (COOP and COEP headers). */
  readonly threads?: number;
  /** URL of the folder with ONNX Runtime's `.wasm` and `.mjs` files, ending in a slash; default: next to the script. */
  readonly wasmPath?: string;
}

/** Loads a graph into onnxruntime-web. Each device has its own build of the runtime; only the requested one is fetched. */
export async function createOnnxSession(
  model: Uint8Array,
  { device = "wasm", threads = 1, wasmPath }: OnnxSessionOptions = {},
): Promise<Session> {
  const { InferenceSession, Tensor, env } = await (device === "webgpu" ? import("onnxruntime-web/webgpu") : import("onnxruntime-web/wasm"));
  env.wasm.numThreads = threads;
  if (wasmPath !== undefined) env.wasm.wasmPaths = wasmPath;
  const session = await failingAs(`loading the graph on ${device}`, () =>
    InferenceSession.create(model, {
      executionProviders: [device],
      graphOptimizationLevel: "all",
      logSeverityLevel: 3, // errors; the warnings are about where operations were placed
      extra: { session: { intra_op: { allow_spinning: "0" } } }, // threads that wait busily take the cores from the page and from one another
    }),
  );
  return wrapSession(session, { Tensor, device });
}

/** Fetches and compiles the runtime that the sessions of these options run in, which the first of them would else wait for. */
export async function startRuntime(options: OnnxSessionOptions): Promise<void> {
  const engine = createOnnxEngine();
  const one = engine.input("one", [1]);
  const session = await createOnnxSession(engine.finish({ outputs: { two: one.add(one) } }), options); // it has no call of its own for this
  await session.dispose();
}
