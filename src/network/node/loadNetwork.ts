import { createNodeSession } from "./onnxSession.ts";
import type { Session } from "../session.ts";
import { disposeStages, loadStages, type StageSessions } from "../stages.ts";
import { recordStages } from "../../model/stages.ts";
import type { NetworkConfig } from "../../model/config.ts";
import { UNCALIBRATED, type Average, type ErrorTable } from "../facts.ts";
import type { Model } from "../weightsFile.ts";
import { readingInput } from "../../system/readingInput.ts";
import { UserError } from "../../system/userError.ts";
import { loadModel } from "./loadModel.ts";
import { openSession, type DeviceName } from "./openSession.ts";

/** The network, loaded when first asked for, so that a stack that cannot be used is refused before. */
export interface LoadedNetwork {
  readonly session: Session;
  /** The same network in stages, for stacks that do not fit one run. */
  readonly stages?: ((planes: number) => Promise<StageSessions>) | undefined;
  /** Of metres, as its weights were trained. */
  readonly average: Average;
  readonly errorTable: ErrorTable;
  /** Why it runs where it runs. */
  readonly reason: string;
  /** Spent on weights and graph. */
  readonly seconds: number;
}

export interface NetworkRequest {
  readonly model: string;
  readonly device: DeviceName;
  readonly threads: number;
  /** Many stacks are to come, see `openSession`. */
  readonly many?: boolean;
}

export async function loadNetwork({ model: name, ...request }: NetworkRequest): Promise<LoadedNetwork> {
  const start = performance.now();
  const remedy = "--model takes base, small, or a .safetensors file that dualfocus train or export wrote";
  const model = await readingInput(name, remedy, () => loadModel(name));
  const { session, reason } = await openSession({ model, ...request });
  if (session.device !== "cuda" && !fitsEveryStack(model.config)) {
    await session.dispose();
    throw new UserError(`${name}: its graph is for one size of picture, or needs the torch engine`, {
      exitCode: 3,
      remedy: "dualfocus evaluate measures it; depth takes networks with grid a number and solver cosine, on --device cuda any",
    });
  }
  const { average = "metres", errorTable = UNCALIBRATED } = model.facts;
  return { ...withStages(session, model, request), average, errorTable, reason, seconds: (performance.now() - start) / 1000 };
}

/** Whether one ONNX graph serves stacks of any size: not with DFV's pooling or a grid that follows the picture, and not with every solver. */
const fitsEveryStack = (config: NetworkConfig): boolean =>
  config.kind === "dualfocus" && config.surface?.grid !== "native" && (config.surface?.solver ?? "cosine") === "cosine";

/** The stages are loaded when first asked for, and freed with the session. CUDA has the memory to do without. */
function withStages(
  session: Session,
  { config, weights }: Pick<Model, "config" | "weights">,
  { threads }: Pick<NetworkRequest, "threads">,
): Pick<LoadedNetwork, "session" | "stages"> {
  const { device } = session;
  if (config.kind !== "dualfocus" || (device !== "cpu" && device !== "webgpu")) return { session };
  let loaded: { readonly planes: number; readonly stages: Promise<StageSessions> } | undefined;
  const load = (graph: Uint8Array): Promise<Session> => createNodeSession(graph, { device, threads, keepMemory: false }); // full-size pictures follow
  const free = async (): Promise<void> => {
    const stages = await loaded?.stages.catch(() => undefined); // its failure has been told already
    loaded = undefined;
    if (stages) await disposeStages(stages);
  };
  return {
    session: {
      ...session,
      async dispose() {
        await Promise.all([session.dispose(), free()]);
      },
    },
    async stages(planes) {
      if (loaded?.planes !== planes) {
        await free();
        loaded = { planes, stages: loadStages(recordStages({ config, weights, planes, forCpu: device === "cpu" }), load) };
      }
      return loaded.stages;
    },
  };
}
