import { createOnnxEngine } from "../engine/onnx/onnxEngine.ts";
import { createOnnxSession, type OnnxSessionOptions } from "../network/node/onnxSession.ts";
import type { Value } from "../network/session.ts";
import { recordGraph } from "../model/graph.ts";
import { initialWeights } from "../model/state.ts";
import { createRandom } from "../random.ts";
import type { BenchRuntime, Work } from "./runtime.ts";

const MATMUL_SIDE = 1024;
const CONVOLUTION = { channels: 256, height: 96, width: 144 };
const COPY_VALUES = 1 << 23; // 32 MB per tensor: more than the cache of one core complex
const COPY_STEPS = 8;

/** ONNX Runtime on the CPU or through WebGPU, as `dualfocus depth` uses it. */
export function onnxRuntime({ device, threads }: Required<Pick<OnnxSessionOptions, "device" | "threads">>): BenchRuntime {
  const planeByPlane = device === "cpu";
  return {
    device,
    description: `ONNX Runtime, ${device}, ${threads === 0 ? "all cores" : `${threads} thread${threads === 1 ? "" : "s"}`}`,
    planeByPlane,
    network: (config, { batch, planes, height, width }) => {
      const weights = initialWeights(config, createRandom(0)); // the values do not matter
      const graph = recordGraph({ config, weights, size: { batch, planes, height, width }, forCpu: planeByPlane });
      return createOnnxSession(graph, { device, threads });
    },
    products: () => (device === "cpu" ? convolution() : matmul()),
    copy: () => {
      const engine = createOnnxEngine();
      const shape = [COPY_VALUES];
      const input = engine.input("values", shape);
      const sums = Array.from({ length: COPY_STEPS }).reduce<typeof input>((value, _, i) => value.add(i + 1), input);
      const values = { data: new Float32Array(COPY_VALUES), shape };
      return work(engine.finish({ outputs: { result: sums.mean([0]) } }), { values }, (2 * COPY_STEPS + 1) * 4 * COPY_VALUES);
    },
  };

  // Outputs are small, so that returning them costs nothing.

  function matmul(): Promise<Work> {
    const engine = createOnnxEngine();
    const side = [MATMUL_SIDE, MATMUL_SIDE];
    const result = engine.input("a", side).matmul(engine.input("b", side)).mean([0, 1]);
    const values = { data: new Float32Array(MATMUL_SIDE ** 2).fill(1 / MATMUL_SIDE), shape: side };
    return work(engine.finish({ outputs: { result } }), { a: values, b: values }, 2 * MATMUL_SIDE ** 3);
  }

  /** On the CPU ONNX Runtime convolves a quarter faster than it multiplies matrices. */
  function convolution(): Promise<Work> {
    const { channels, height, width } = CONVOLUTION;
    const engine = createOnnxEngine();
    const shape = [1, channels, height, width];
    const weights = new Float32Array(9 * channels ** 2).fill(1 / (9 * channels));
    const kernel = engine.constant(weights, { shape: [channels, channels, 3, 3] });
    const result = engine.input("maps", shape).conv2d(kernel, { stride: 1, padding: 1 }).mean([0, 1, 2, 3]);
    const maps = { data: new Float32Array(channels * height * width).fill(1), shape };
    return work(engine.finish({ outputs: { result } }), { maps }, 2 * 9 * channels ** 2 * height * width);
  }

  async function work(graph: Uint8Array, inputs: Readonly<Record<string, Value>>, amount: number): Promise<Work> {
    const session = await createOnnxSession(graph, { device, threads });
    return {
      amount,
      run: async () => {
        await session.run(inputs);
      },
      dispose: () => session.dispose(),
    };
  }
}
