import { EngineError } from "../engine/errors.ts";
import type { NetworkConfig } from "../model/config.ts";
import { FIELD_NAMES, recordGraph, type GraphSize } from "../model/graph.ts";
import type { Device, Session } from "./session.ts";
import type { Model } from "./weightsFile.ts";

/** A runtime that graphs are loaded into. */
export interface GraphRuntime {
  readonly device: Device;
  /** `keepMemory` (default): keep the memory of a run for the next one, which is a little faster. */
  readonly load: (graph: Uint8Array, options?: { readonly keepMemory?: boolean }) => Promise<Session>;
}

/** A graph and its runs under way, which it outlives. */
interface Graph {
  readonly session: Promise<Session>;
  readonly runs: Set<Promise<unknown>>;
}

/** How many graphs stay loaded. */
const MOST_GRAPHS = 2;

/** Whether a network can be recorded as an ONNX graph. */
export const isRecordable = (config: NetworkConfig): boolean =>
  config.kind === "dfv" || config.surface === undefined || config.surface.solver === "cosine";

/** Whether a graph serves one image size only: with DFV's pooling, or with a grid that follows the image. */
export const hasFixedSize = (config: NetworkConfig): boolean => config.kind === "dfv" || config.surface?.grid === "native";

/**
 * The network in ONNX Runtime. On the CPU a graph is recorded for each number of planes, which is 1.1 (small) to 1.3 times (base) as fast as
 * one for any number, and for each size of a single stack: where all sizes are known, ONNX Runtime fuses the sums over planes into the
 * convolutions, and loads the graph in half the time. A network that depends on the image size has one for each size. Elsewhere one graph
 * serves all stacks and is loaded immediately, the others when they are needed. The last two stay loaded, since large stacks are seen in two
 * sizes; no more, since each keeps its own memory. Inputs and outputs are those of `recordGraph`.
 */
export async function createGraphs(
  { config, weights }: Pick<Model, "config" | "weights">,
  { device, load }: GraphRuntime,
  { fields = false }: { readonly fields?: boolean } = {},
): Promise<Session> {
  const forCpu = device === "cpu";
  const sizeFor = ([batch, planes, , height, width]: readonly number[]): GraphSize => {
    if (planes === undefined) throw new EngineError("run: images are missing or have no axis of planes; they are [B, N, 3, H, W]");
    if (hasFixedSize(config) || (forCpu && batch === 1)) return { batch, planes, height, width } as Required<GraphSize>;
    return forCpu ? { planes } : {}; // how many stacks come together changes from run to run
  };
  const graphs = new Map<string, Graph>(); // the least recently used first
  const drop = async (key: string): Promise<void> => {
    const graph = graphs.get(key);
    if (!graph) return;
    graphs.delete(key);
    await Promise.allSettled(graph.runs);
    await (await graph.session.catch(() => undefined))?.dispose(); // its failure has been reported
  };
  const graphFor = (size: GraphSize): Graph => {
    const key = JSON.stringify(size);
    const known = graphs.get(key);
    graphs.delete(key); // to the end of the queue
    const [oldest] = graphs.keys();
    const room = !known && oldest !== undefined && graphs.size >= MOST_GRAPHS ? drop(oldest) : Promise.resolve();
    const graph = known ?? { session: room.then(() => load(recordGraph({ config, weights, size, forCpu, fields }))), runs: new Set() };
    graphs.set(key, graph);
    graph.session.catch(() => {
      if (graphs.get(key) === graph) graphs.delete(key);
    });
    return graph;
  };
  if (!forCpu && !hasFixedSize(config)) await graphFor({}).session;
  return {
    device,
    inputNames: ["images", "focusDistances"],
    outputNames: ["depth", "probability", "spread", ...(fields ? FIELD_NAMES : [])],
    async run(inputs) {
      const { session, runs } = graphFor(sizeFor(inputs["images"]?.shape ?? []));
      const answer = session.then((graph) => graph.run(inputs));
      runs.add(answer);
      try {
        return await answer;
      } finally {
        runs.delete(answer);
      }
    },
    async dispose() {
      await Promise.all([...graphs.keys()].map(drop));
    },
  };
}
