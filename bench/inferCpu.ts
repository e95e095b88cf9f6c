// Inference in ONNX Runtime on the CPU: the graph for any number of planes against the one arranged for this number, run in turn, and the
// limit of the machine by the same runtime.
import { onnxRuntime } from "../src/bench/onnxRuntime.ts";
import { createOnnxSession } from "../src/network/node/onnxSession.ts";
import { loadModel, untrainedModel } from "../src/network/node/loadModel.ts";
import type { ConfigName } from "../src/model/config.ts";
import { recordGraph } from "../src/model/graph.ts";
import { countMultiplyAccumulates } from "../src/model/state.ts";
import type { InferBench } from "./inferCuda.ts";

interface Timing {
  /** By the clock. */
  readonly milliseconds: number;
  /** Of the processor, all threads: what other work on the machine touches least. */
  readonly processorMilliseconds: number;
}

interface Contender {
  readonly name: string;
  run(): Promise<unknown>;
  dispose(): Promise<void>;
}

/** The least of `repeats` runs of each, taking turns after one warm-up. */
async function race(contenders: readonly Contender[], repeats: number): Promise<Map<string, Timing>> {
  const best = new Map<string, Timing>();
  for (let round = 0; round <= repeats; round++)
    for (const contender of contenders) {
      const [before, start] = [process.cpuUsage(), performance.now()];
      await contender.run();
      const { user, system } = process.cpuUsage(before);
      const [milliseconds, processor] = [performance.now() - start, (user + system) / 1e3];
      const known = best.get(contender.name) ?? { milliseconds: Infinity, processorMilliseconds: Infinity };
      if (round > 0)
        best.set(contender.name, {
          milliseconds: Math.min(known.milliseconds, milliseconds),
          processorMilliseconds: Math.min(known.processorMilliseconds, processor),
        });
    }
  return best;
}

const load = (name: ConfigName) => (name === "dfv" ? untrainedModel(name) : loadModel(name));

export async function benchCpu({
  models,
  planes,
  height,
  width,
  repeats,
  threads,
}: InferBench & { readonly threads: number }): Promise<object> {
  const images = { data: Float32Array.from({ length: planes * 3 * height * width }, (_, i) => ((i * 7919) % 251) / 250), shape: [1, planes, 3, height, width] }; // prettier-ignore
  const inputs = { images, focusDistances: { data: Float32Array.from({ length: planes }, (_, n) => n), shape: [1, planes] } };
  const rows: object[] = [];
  for (const name of models) {
    const model = load(name);
    const size = name === "dfv" ? { batch: 1, planes, height, width } : {};
    const open = async (name: string, forCpu: boolean): Promise<Contender> => {
      const graph = recordGraph({ ...model, size: forCpu ? { batch: 1, planes, height, width } : size, forCpu });
      const session = await createOnnxSession(graph, { threads });
      return { name, run: () => session.run(inputs), dispose: () => session.dispose() };
    };
    const product = await onnxRuntime({ device: "cpu", threads }).products();
    const contenders = [await open("any", false), await open("planeByPlane", true), { name: "product", ...product }];
    const best = await race(contenders, repeats);
    for (const contender of contenders) await contender.dispose();
    const of = (contender: string): Timing => best.get(contender) as Timing;
    const gflop = 2 * (countMultiplyAccumulates(model.config, { planes, height, width }) / 1e9);
    const rate = product.amount / 1e6 / of("product").milliseconds; // GFLOP/s
    rows.push({
      model: name,
      gflop,
      any: of("any"),
      planeByPlane: of("planeByPlane"),
      timesFaster: of("any").processorMilliseconds / of("planeByPlane").processorMilliseconds,
      productGflops: rate,
      ofProductRate: (1e3 * gflop) / rate / of("planeByPlane").milliseconds,
    });
  }
  return { device: "cpu", threads, planes, height, width, repeats, rows };
}
