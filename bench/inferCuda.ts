// Inference on CUDA: the arranged network as one graph, what it differs from f32 by, where its time goes, and how far that is from the GPU's limit.
import { existsSync, readFileSync } from "node:fs";
import { lensTextures, renderLens } from "../src/optics/render/node/lens.ts";
import { scope } from "../src/engine/scope.ts";
import { createTorchEngine, TorchTensor, type TorchEngine } from "../src/engine/torch/torchEngine.ts";
import type { FusionOptions } from "../src/engine/fusion/fusion.ts";
import { createCudaSession, predict } from "../src/network/node/cudaSession.ts";
import { configs, type ConfigName } from "../src/model/config.ts";
import { DualFocus } from "../src/model/dualFocus.ts";
import { createNetwork, type Network } from "../src/model/network.ts";
import { countMultiplyAccumulates, initialWeights } from "../src/model/state.ts";
import { readModel, type Model } from "../src/network/weightsFile.ts";
import { createParameters } from "../src/nn/module.ts";
import { packRandomScenes } from "../src/optics/scene/random.ts";
import { generateTextures } from "../src/optics/texture/texture.ts";
import { createRandom } from "../src/random.ts";
import { deviation, type Deviation, type DeviationRow } from "./inferDeviation.ts";

export interface InferBench {
  readonly device: string;
  readonly models: readonly ConfigName[];
  readonly planes: number;
  readonly height: number;
  readonly width: number;
  readonly repeats: number;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] as number;
const rounded = (value: number): number => Number(value.toPrecision(4));

/** Shipped weights, run from the project's folder; else those training starts from. */
function loadWeights(name: ConfigName): Pick<Model, "config" | "weights"> & { readonly trained: boolean } {
  const file = `models/${name}.safetensors`;
  if (existsSync(file)) return { ...readModel(readFileSync(file), file), trained: true };
  return { config: configs[name], weights: initialWeights(configs[name], createRandom(0)), trained: false };
}

/** A rendered stack, as bytes. */
function renderStack(engine: TorchEngine, { planes, height, width }: InferBench): Uint8Array {
  return scope(() => {
    const textures = lensTextures(engine, generateTextures());
    const scenes = packRandomScenes(createRandom(11), { count: 1, planes, width, height });
    return engine.read(renderLens(engine, scenes, { textures, samples: 96, dtype: "u8" }).images) as Uint8Array;
  });
}

interface Loaded {
  readonly engine: TorchEngine;
  readonly network: Network;
  readonly forward: () => ReturnType<typeof predict>;
  dispose(): void;
}

type Precision = FusionOptions["precision"] | "plain";

function load({ config, weights }: Pick<Model, "config" | "weights">, stack: Uint8Array, bench: InferBench, precision: Precision): Loaded {
  const { device, planes, height, width } = bench;
  const engine = createTorchEngine({ device, ...(precision === "plain" ? {} : { inference: { precision, tuned: true } }) });
  engine.fastMath({ tf32: false, cudnnBenchmark: true });
  const tree = createParameters(engine, { weights });
  const network = createNetwork(tree.source, config);
  const images = engine.constant(stack, { shape: [1, planes, 3, height, width], dtype: "u8" });
  const focusDistances = engine.constant(Float32Array.from({ length: planes }, (_, n) => n), { shape: [1, planes] }); // prettier-ignore
  return {
    engine,
    network,
    forward: () => engine.noGradient(() => predict(network, { images, focusDistances })),
    dispose() {
      for (const tensor of [...tree.state.values(), images, focusDistances]) tensor.dispose();
    },
  };
}

/** Median milliseconds of a body run one operation after the other. */
function eager({ engine }: Loaded, body: () => unknown, repeats: number): number {
  const once = (): void => {
    scope(() => {
      body();
    });
  };
  for (let i = 0; i < 3; i++) once();
  const time = (): number => engine.milliseconds(once);
  return median(Array.from({ length: repeats }, time));
}

/** Median milliseconds of a body as one graph. */
function graphed({ engine }: Loaded, body: () => unknown, repeats: number): number {
  if (engine.device === "cpu") return engine.milliseconds(() => scope(body)); // for trying this program out
  const graph = engine.captureGraph(body);
  const replay = (): void => {
    graph.replay();
  };
  for (let i = 0; i < 10; i++) replay();
  const times = Array.from({ length: repeats }, () => engine.milliseconds(replay));
  graph.dispose();
  return median(times);
}

const depthOf = ({ engine, forward }: Loaded): Float32Array => scope(() => engine.read(forward().depth) as Float32Array);

class Reached extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super("stage reached");
    this.value = value;
  }
}

/** Computes what is still deferred and collects it. */
function settled(value: unknown): TorchTensor[] {
  if (value instanceof TorchTensor) {
    value.engine.native("shape", value); // looks at it
    return [value];
  }
  if (typeof value !== "object" || value === null || value instanceof Map) return [];
  return Object.values(value).flatMap(settled);
}

interface Step {
  readonly name: string;
  readonly of: { forward: (...args: never[]) => unknown };
  readonly stop: "before" | "after";
}

/** The network's steps in the order they are done; each is over when its method begins or returns. */
function stepsOf({ encoder, variational, decoder }: DualFocus): Step[] {
  return [
    { name: "trunk", of: encoder.trunk, stop: "after" },
    ...(encoder.pooling ? [{ name: "pooling", of: encoder.pooling, stop: "after" } as const] : []),
    { name: "to 1/16", of: encoder.pyramid.steps[0], stop: "after" },
    { name: "to 1/8", of: encoder.pyramid.steps[1], stop: "after" },
    { name: "to 1/4", of: encoder.pyramid.steps[2], stop: "after" },
    { name: "projections", of: encoder, stop: "after" },
    { name: "volumes", of: variational, stop: "before" },
    { name: "surface", of: variational, stop: "after" },
    { name: "fuse16", of: decoder.stages[0], stop: "after" },
    { name: "fuse8", of: decoder.stages[1], stop: "after" },
    { name: "fuse4", of: decoder.stages[2], stop: "after" },
    { name: "head", of: decoder, stop: "after" },
  ];
}

/** Milliseconds of each step: those of the graph up to its end less those of the graph up to the end of the step before. */
function stages(loaded: Loaded, whole: number, repeats: number): Record<string, number> | undefined {
  if (!(loaded.network instanceof DualFocus)) return undefined;
  let before = 0;
  const times = stepsOf(loaded.network).map(({ name, of, stop }): [string, number] => {
    const original = of.forward.bind(of);
    of.forward = (...args) => {
      throw new Reached(stop === "before" ? args : original(...args));
    };
    const body = (): TorchTensor[] => {
      try {
        loaded.forward();
      } catch (error) {
        if (error instanceof Reached) return settled(error.value);
        throw error;
      }
      throw new Error(`bench: ${name} is not a step of the network`);
    };
    const until = graphed(loaded, body, repeats);
    Reflect.deleteProperty(of, "forward");
    const spent = until - before;
    before = until;
    return [name, rounded(spent)];
  });
  return { ...Object.fromEntries(times), depth: rounded(whole - before) };
}

/** TFLOP/s of one large f16 product and GB/s of one large copy, as graphs. */
function ceilings(device: string): { readonly tflops: number; readonly gigabytesPerSecond: number } {
  const engine = createTorchEngine({ device });
  const side = device === "cpu" ? 256 : 8192;
  const dtype = device === "cpu" ? "f32" : "f16";
  return scope(() => {
    const [a, b] = [1, 2].map(() => engine.compute("aten::randn", [side, side], dtype, null, device)) as [TorchTensor, TorchTensor];
    const loaded = { engine } as Loaded;
    const product = graphed(loaded, () => a.matmul(b), 20);
    const large = engine.full([device === "cpu" ? 1e6 : 2 ** 28], 1);
    const copy = graphed(loaded, () => large.mul(1), 20);
    return { tflops: (2 * side ** 3) / product / 1e9, gigabytesPerSecond: (8 * (large.shape[0] as number)) / copy / 1e6 };
  });
}

/** A stack from host memory to depth in host memory, bytes in. */
async function endToEnd(model: Pick<Model, "config" | "weights">, stack: Uint8Array, bench: InferBench): Promise<number> {
  const { device, planes, height, width, repeats } = bench;
  const session = createCudaSession(model, { device, precision: device === "cpu" ? "f32" : "f16", tuned: true });
  const times: number[] = [];
  for (let i = 0; i < repeats + 3; i++) {
    const start = performance.now();
    await session.run({
      images: { data: stack, shape: [1, planes, 3, height, width] },
      focusDistances: { data: Float32Array.from({ length: planes }, (_, n) => n), shape: [1, planes] },
    });
    times.push(performance.now() - start);
  }
  await session.dispose();
  return rounded(median(times.slice(3)));
}

/** What `body` gives, or why it gives nothing: one row that fails should not cost the others. */
async function attempt<T>(what: string, body: () => T | Promise<T>): Promise<T | { readonly failed: string }> {
  console.error(`bench: ${what}`);
  try {
    return await body();
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

function baselines(plain: Loaded, repeats: number): Record<string, number> {
  const autocast = (): unknown => plain.engine.autocast(plain.forward);
  return {
    eagerF32: rounded(eager(plain, plain.forward, repeats)),
    eagerBf16: rounded(eager(plain, autocast, repeats)),
    graphBf16: rounded(graphed(plain, autocast, repeats)),
  };
}

type Weighted = Pick<Model, "config" | "weights">;

/** The arranged network in one precision; `exact` is f32's depth. */
async function arrangedRow(
  model: Weighted,
  precision: Precision,
  { stack, bench, exact }: { stack: Uint8Array; bench: InferBench; exact: Float32Array },
): Promise<Arranged> {
  const loaded = load(model, stack, bench, precision);
  const planesFromF32 = deviation(depthOf(loaded), exact);
  const milliseconds = graphed(loaded, loaded.forward, bench.repeats);
  const steps = await attempt(`stages, ${precision}`, () => stages(loaded, milliseconds, Math.min(bench.repeats, 20)));
  const convolutions = loaded.engine.fusion?.choices;
  loaded.dispose();
  return { precision, milliseconds: rounded(milliseconds), planesFromF32, stages: steps, convolutions };
}

interface Arranged {
  readonly precision: Precision;
  readonly milliseconds: number;
  readonly planesFromF32: Deviation;
  readonly [key: string]: unknown;
}

export interface CudaBench extends InferBench {
  readonly torch: unknown;
  readonly limits: ReturnType<typeof ceilings>;
  readonly rows: readonly DeviationRow[];
}

export async function benchCuda(bench: InferBench): Promise<CudaBench> {
  const { device, repeats } = bench;
  const stack = renderStack(createTorchEngine({ device }), bench);
  const limits = ceilings(device);
  const rows: DeviationRow[] = [];
  for (const name of bench.models) {
    const model = loadWeights(name);
    const plain = load(model, stack, bench, "plain");
    const exact = depthOf(plain);
    const unarranged = await attempt(`${name}, operation by operation`, () => baselines(plain, Math.min(repeats, 20)));
    plain.dispose();
    const arranged: (Arranged | { readonly failed: string })[] = [];
    for (const precision of device === "cpu" ? (["f32"] as const) : (["f16", "bf16"] as const))
      arranged.push(await attempt(`${name}, ${precision}`, () => arrangedRow(model, precision, { stack, bench, exact })));
    const gmac = countMultiplyAccumulates(model.config, bench) / 1e9;
    const floorMilliseconds = (2 * gmac) / limits.tflops;
    const endToEndMilliseconds = await attempt(`${name}, from host to host`, () => endToEnd(model, stack, bench));
    const row = { model: name, trained: model.trained, gmac, floorMilliseconds, endToEndMilliseconds, unarranged, arranged };
    rows.push(row);
  }
  return { ...bench, torch: createTorchEngine({ device }).native("libraryVersion"), limits, rows };
}
