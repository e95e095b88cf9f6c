// The kernels of one training step and of one inference on CUDA: how long each runs, and how long none does.
//   node --import tsx bench/profile.ts [--device cuda] [--train base,small] [--infer base,small] [--batch-size 48] [--planes 5] [--size 224]
//     [--height 384] [--width 576] [--list infer] [--rows 40] [--out FOLDER] [--parts detail=6,context=16,convex=24]
// `--list` prints the kernels of those cases one by one, in order; FOLDER gets the traces (chrome://tracing) and the lists.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scope } from "../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine } from "../src/engine/torch/torchEngine.ts";
import { createNetwork } from "../src/model/network.ts";
import { initialWeights } from "../src/model/state.ts";
import { predict } from "../src/network/node/cudaSession.ts";
import { createParameters } from "../src/nn/module.ts";
import { createRandom } from "../src/random.ts";
import { render } from "../src/train/presets.ts";
import { createTrainer } from "../src/train/trainer.ts";
import { networkOf } from "./parts.ts";
import { option } from "./timing.ts";

const device = option("device", "cuda");
const number = (name: string, fallback: number): number => Number(option(name, String(fallback)));
const names = (name: string, fallback: string): string[] => option(name, fallback).split(",").filter(Boolean);
const [batch, planes, size, rows] = [number("batch-size", 48), number("planes", 5), number("size", 224), number("rows", 40)];
const folder = option("out", "") || mkdtempSync(join(tmpdir(), "dualfocus-profile-"));
mkdirSync(folder, { recursive: true });

interface Kernel {
  readonly name: string;
  /** Microseconds from the start of the trace, and its length. */
  readonly start: number;
  readonly length: number;
  readonly grid: string;
}

/** The part of a Chrome trace that this program reads. */
interface TraceEvent {
  readonly ph: string;
  readonly cat?: string;
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
  readonly args?: { readonly grid?: readonly number[]; readonly block?: readonly number[]; readonly bytes?: number };
}

const WORK = new Set(["kernel", "gpu_memcpy", "gpu_memset"]);

function readTrace(file: string): Kernel[] {
  const { traceEvents } = JSON.parse(readFileSync(file, "utf8")) as { traceEvents: TraceEvent[] };
  return traceEvents
    .filter(({ ph, cat }) => ph === "X" && cat !== undefined && WORK.has(cat))
    .map(({ name, ts, dur, args }) => ({
      name,
      start: ts,
      length: dur,
      grid: args?.grid ? `${args.grid.join("×")} blocks of ${(args.block ?? []).join("×")}` : `${args?.bytes ?? 0} bytes`,
    }))
    .sort((a, b) => a.start - b.start);
}

/** Templates and namespaces make names of several hundred characters. */
const short = (name: string): string =>
  name
    .replace(/^void /, "")
    .replaceAll(/at::native::|\(anonymous namespace\)::|c10::|std::/g, "")
    .slice(0, 150);

function profile(engine: TorchEngine, what: string, body: () => void): void {
  const file = join(folder, `${what.replaceAll(" ", "-")}.trace.json`);
  engine.synchronize();
  engine.native("profileBegin");
  body();
  engine.native("profileEnd", file);
  const kernels = readTrace(file);
  const busy = kernels.reduce((sum, { length }) => sum + length, 0);
  const [first, last] = [kernels[0], kernels.at(-1)];
  const span = first && last ? last.start + last.length - first.start : 0;
  const gaps = kernels.map(({ start }, i) => (i === 0 ? 0 : start - (kernels[i - 1] as Kernel).start - (kernels[i - 1] as Kernel).length));
  const line = ({ name, length, grid }: Kernel, i: number): string =>
    `${length.toFixed(1).padStart(8)} +${(gaps[i] as number).toFixed(1)}  ${short(name)}  [${grid}]`;
  writeFileSync(join(folder, `${what.replaceAll(" ", "-")}.txt`), `${kernels.map(line).join("\n")}\n`);
  console.log(`\n== ${what}: ${kernels.length} kernels, ${busy.toFixed(0)} µs busy, ${span.toFixed(0)} µs from first to last`);
  if (names("list", "infer").some((each) => what.startsWith(each))) console.log(kernels.map(line).join("\n"));
  else console.log(table(kernels, busy).slice(0, rows).join("\n"));
}

function table(kernels: readonly Kernel[], busy: number): string[] {
  const byName = new Map<string, { readonly name: string; readonly count: number; readonly time: number }>();
  for (const { name: full, length } of kernels) {
    const name = short(full);
    const { count, time } = byName.get(name) ?? { count: 0, time: 0 };
    byName.set(name, { name, count: count + 1, time: time + length });
  }
  return [...byName.values()]
    .sort((a, b) => b.time - a.time)
    .map(
      ({ name, count, time }) =>
        `${time.toFixed(0).padStart(7)} µs ${((100 * time) / busy).toFixed(1).padStart(5)} % ${String(count).padStart(4)} × ${name}`,
    );
}

function profileTraining(name: string): void {
  const engine = createTorchEngine({ device });
  engine.fastMath({ tf32: false, cudnnBenchmark: true });
  const uniform = (shape: readonly number[]) => engine.compute("aten::rand", shape, "f32", null, device);
  const stacks = {
    images: uniform([batch, planes, 3, size, size]),
    focusDistances: engine.constant(Float32Array.from({ length: batch * planes }, (_, i) => i % planes), { shape: [batch, planes] }), // prettier-ignore
    trueDepth: uniform([batch, 1, size, size]).mul(planes - 1),
    valid: engine.full([batch, 1, size, size], 1),
  };
  const trainer = createTrainer({ engine, config: { ...render, model: networkOf(name) } });
  let step = 0;
  const once = (): void => {
    trainer.step(stacks, { step: (step += 1), rate: 1e-4 });
  };
  for (let i = 0; i < 8; i++) once(); // eager steps, the capture, replays
  const unprofiled = engine.milliseconds(() => {
    for (let i = 0; i < 5; i++) once();
  });
  console.log(`\ntrain ${name}: ${(unprofiled / 5).toFixed(2)} ms per step, ${((5e3 * batch) / unprofiled).toFixed(0)} stacks/s`);
  profile(engine, `train ${name}`, once);
}

function profileInference(name: string): void {
  const engine = createTorchEngine({ device, inference: { precision: "f16", tuned: true } });
  engine.fastMath({ tf32: false, cudnnBenchmark: true });
  const tree = createParameters(engine, { weights: initialWeights(networkOf(name), createRandom(0)) });
  const network = createNetwork(tree.source, networkOf(name));
  const [height, width] = [number("height", 384), number("width", 576)];
  const bytes = Uint8Array.from({ length: planes * 3 * height * width }, (_, i) => (i * 2654435761) >>> 24);
  const images = engine.constant(bytes, { shape: [1, planes, 3, height, width], dtype: "u8" });
  const focusDistances = engine.constant(Float32Array.from({ length: planes }, (_, n) => n), { shape: [1, planes] }); // prettier-ignore
  const graph = engine.captureGraph(() => engine.noGradient(() => predict(network, { images, focusDistances })));
  const replay = (): void => {
    graph.replay();
  };
  for (let i = 0; i < 10; i++) replay();
  const times = Array.from({ length: 50 }, () => engine.milliseconds(replay)).sort((a, b) => a - b);
  console.log(`\ninfer ${name}: ${(times[25] as number).toFixed(3)} ms (median of 50 replays)`);
  profile(engine, `infer ${name}`, replay);
  graph.dispose();
}

// Loads the tracer before anything is captured, so that it sees the graphs' kernels.
const engine = createTorchEngine({ device });
engine.native("profileBegin");
engine.native("profileEnd", join(folder, "empty.json"));
for (const name of names("infer", "base,small")) scope(() => { profileInference(name); }); // prettier-ignore
for (const name of names("train", "base,small")) scope(() => { profileTraining(name); }); // prettier-ignore
