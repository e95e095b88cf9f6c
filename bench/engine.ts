// The overhead of the torch engine over libtorch itself, and how ONNX Runtime compares, in one run on one machine.
//   node --import tsx bench/engine.ts [--device cuda] [--threads 2] [--rounds 5]
// Prints one JSON document; times in milliseconds. `ratio` is C++ time / our time: 1 means no cost.
// test/golden/engine_pytorch.py times the same operations in PyTorch.
import { createOnnxEngine } from "../src/engine/onnx/onnxEngine.ts";
import { scope } from "../src/engine/scope.ts";
import { createTorchEngine } from "../src/engine/torch/torchEngine.ts";
import type { TorchEngine, TorchTensor } from "../src/engine/torch/torchEngine.ts";
import { createOnnxSession } from "../src/network/node/onnxSession.ts";
import { option } from "./timing.ts";

const device = option("device", "cpu");
const threads = Number(option("threads", "2"));
const rounds = Number(option("rounds", "5"));

interface Case {
  readonly name: string;
  readonly operation: "conv2d" | "conv3d";
  readonly input: readonly number[];
  readonly weight: readonly number[];
}

const cases: readonly Case[] = [
  { name: "conv2d 64→64 3×3 on 5×64×56×56", operation: "conv2d", input: [5, 64, 56, 56], weight: [64, 64, 3, 3] },
  { name: "conv3d 64→64 3³ on 1×64×5×56×56", operation: "conv3d", input: [1, 64, 5, 56, 56], weight: [64, 64, 3, 3, 3] },
  { name: "conv3d 64→64 3³ on 2×64×5×56×56", operation: "conv3d", input: [2, 64, 5, 56, 56], weight: [64, 64, 3, 3, 3] },
];

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;
const rounded = (value: number): number => Number(value.toPrecision(4));

/** Milliseconds per run of `body`, the device's work included. */
function measure(engine: TorchEngine, iterations: number, body: () => void): number {
  engine.synchronize();
  const start = performance.now();
  for (let i = 0; i < iterations; i++) scope(body);
  engine.synchronize();
  return (performance.now() - start) / iterations;
}

/** Ours and C++'s alternately, so that a noisy machine affects both equally. */
function compare(
  engine: TorchEngine,
  iterations: number,
  { ours, cpp }: { ours: () => void; cpp: () => number },
): { ours: number; cpp: number; ratio: number } {
  measure(engine, Math.ceil(iterations / 10), ours);
  cpp();
  const pairs = Array.from({ length: rounds }, () => ({ ours: measure(engine, iterations, ours), cpp: cpp() }));
  return {
    ours: rounded(median(pairs.map((pair) => pair.ours))),
    cpp: rounded(median(pairs.map((pair) => pair.cpp))),
    ratio: rounded(median(pairs.map((pair) => pair.cpp / pair.ours))),
  };
}

function perCall(engine: TorchEngine): object {
  const [a, b] = [engine.full([1], 1), engine.full([1], 2)];
  const iterations = 50_000;
  const cpp = (): number => engine.native("benchmark", "add", a, b, iterations, false);
  const ours = (): void => {
    a.add(b).dispose();
  };
  const { ours: own, cpp: direct } = compare(engine, iterations, { ours, cpp });
  return { microseconds: rounded(own * 1000), cppMicroseconds: rounded(direct * 1000) };
}

function graphed(engine: TorchEngine, iterations: number, body: () => void, reset: () => void): number | undefined {
  if (engine.device === "cpu") return undefined;
  reset();
  const graph = engine.captureGraph(body);
  const replay = (): void => {
    graph.replay();
  };
  const times = Array.from({ length: rounds }, () => measure(engine, iterations, replay));
  graph.dispose();
  reset();
  return rounded(median(times));
}

function convolution(engine: TorchEngine, { operation, input, weight }: Case): object {
  engine.seed(0);
  const [x, w] = [engine.compute("aten::randn", input, "f32", null, engine.device), randomWeight(engine, weight)];
  const iterations = engine.device === "cpu" ? 5 : 200;
  const forward = (): TorchTensor => x[operation](w, { padding: 1 });
  const cpp = (backward: boolean) => (): number => engine.native("benchmark", operation, x, w, iterations, backward);
  const reset = (): void => {
    for (const tensor of [x, w]) engine.setGradient(tensor);
  };
  const runForward = (): void => {
    forward();
  };
  const forwards = {
    ...engine.noGradient(() => compare(engine, iterations, { ours: runForward, cpp: cpp(false) })),
    graph: engine.noGradient(() => graphed(engine, iterations, runForward, reset)),
  };
  engine.requireGradient(x);
  engine.requireGradient(w);
  const both = (): void => {
    engine.backward(forward().sum());
  };
  const step = (): void => {
    both();
    reset();
  };
  const backwards = {
    ...compare(engine, iterations, { ours: step, cpp: cpp(true) }),
    graph: graphed(engine, iterations, both, reset),
  };
  for (const tensor of [x, w]) tensor.dispose();
  return { forward: forwards, forwardBackward: backwards };
}

function randomWeight(engine: TorchEngine, shape: readonly number[]): TorchTensor {
  return engine.compute("aten::randn", shape, "f32", null, engine.device).mul(0.05);
}

/** The forward convolution in ONNX Runtime on the CPU. */
async function onnxRuntime({ operation, input, weight }: Case): Promise<number> {
  const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size);
  const recorder = createOnnxEngine();
  const kernel = recorder.constant(new Float32Array(count(weight)).fill(0.01), { shape: weight });
  const result = recorder.input("input", input)[operation](kernel, { padding: 1 });
  const session = await createOnnxSession(recorder.finish({ outputs: { result } }), { threads });
  const feed = { input: { data: new Float32Array(count(input)).fill(0.5), shape: input } };
  const times: number[] = [];
  for (let i = 0; i < rounds * 5 + 2; i++) {
    const start = performance.now();
    await session.run(feed);
    times.push(performance.now() - start);
  }
  await session.dispose();
  return rounded(median(times.slice(2)));
}

const engine = createTorchEngine({ device, threads });
engine.fastMath({ tf32: true, cudnnBenchmark: true });
const results: Record<string, unknown> = {};
for (const each of cases) {
  const onnx = device === "cpu" ? await onnxRuntime(each) : undefined;
  results[each.name] = { ...convolution(engine, each), onnxRuntimeForward: onnx };
}
const torch = engine.native("libraryVersion");
console.log(JSON.stringify({ device, threads, torch, perCall: perCall(engine), ...results }, null, 2));
