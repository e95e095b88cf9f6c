import { EngineError } from "../../engine/errors.ts";
import { recordGraph, type GraphSize } from "../../model/graph.ts";
import type { Model } from "../weightsFile.ts";
import { createNodeSession } from "./onnxSession.ts";
import type { Session } from "../session.ts";

/** Graphs kept loaded; a stack, its windows and its views have one or two plane counts between them. */
const MOST_GRAPHS = 2;

export interface PlaneGraphOptions {
  /** Of one operation; 0 lets ONNX Runtime use every core. */
  readonly threads?: number;
  /** Sizes all stacks will have, where the network depends on them (DFV). */
  readonly size?: GraphSize;
}

/**
 * The network on the CPU, recorded anew for each number of planes it meets: a graph of known planes is 1.1 (small) to 1.3 times (base) as
 * fast as one for any. Inputs and outputs are those of `recordGraph`.
 */
export function createPlaneGraphs(model: Pick<Model, "config" | "weights">, { threads = 0, size = {} }: PlaneGraphOptions = {}): Session {
  const graphs = new Map<number, Promise<Session>>();
  const drop = async (planes: number): Promise<void> => {
    const graph = graphs.get(planes);
    graphs.delete(planes);
    await (await graph?.catch(() => undefined))?.dispose(); // one that failed has said so
  };
  const graphFor = async (planes: number): Promise<Session> => {
    const graph = graphs.get(planes) ?? Promise.resolve().then(() => load(planes));
    graphs.delete(planes); // to the end of the line
    graphs.set(planes, graph);
    const [oldest] = graphs.keys();
    if (graphs.size > MOST_GRAPHS && oldest !== undefined) await drop(oldest);
    return graph.catch(async (error: unknown) => {
      await drop(planes);
      throw error;
    });
  };
  const load = (planes: number): Promise<Session> =>
    createNodeSession(recordGraph({ ...model, size: { ...size, planes }, forCpu: true }), { threads });
  return {
    device: "cpu",
    inputNames: ["images", "focusDistances"],
    outputNames: ["depth", "probability", "spread"],
    async run(inputs) {
      const planes = inputs["images"]?.shape[1];
      if (planes === undefined) throw new EngineError("run: images are missing or have no axis of planes; they are [B, N, 3, H, W]");
      return (await graphFor(planes)).run(inputs);
    },
    async dispose() {
      await Promise.all([...graphs.keys()].map(drop));
    },
  };
}
