import { formatShape } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { keep, scope } from "../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch/torchEngine.ts";
import { totalLoss } from "../losses/total.ts";
import { createNetwork, type Network } from "../model/network.ts";
import { stateShapes } from "../model/state.ts";
import { checkWeights, type Weights } from "../io/safetensors.ts";
import { createParameters, type ParameterTree } from "../nn/module.ts";
import { createRandom } from "../random.ts";
import { createAdam, type Adam } from "./adam.ts";
import { clipGradients } from "./clip.ts";
import type { TrainConfig } from "./config.ts";
import { createEma, type Ema } from "./ema.ts";

/** Stacks on the device. */
export interface TrainBatch {
  /** [B, N, 3, H, W], f32 in [0, 1] or u8. */
  readonly images: Tensor;
  /** f, [B, N], in the unit of the depth. */
  readonly focusDistances: Tensor;
  /** D*, [B, 1, H, W]. */
  readonly trueDepth: Tensor;
  /** 1 where D* counts, else 0; [B, 1, H, W]. */
  readonly valid: Tensor;
}

/** Means over the steps since they were last taken. */
export interface Losses {
  readonly total: number;
  readonly depth: number;
  readonly spatial: number;
  readonly focal: number;
  /** Norm of all gradients, before clipping. */
  readonly gradient: number;
}

export interface Trainer {
  readonly tree: ParameterTree;
  readonly network: Network;
  readonly adam: Adam;
  readonly ema: Ema;
  /** Step `step` (1, 2, …): losses, gradients, clipping, Adam, averages. Returns without waiting for the device. */
  step(batch: TrainBatch, next: { readonly step: number; readonly rate: number }): void;
  /** Waits for the device; undefined when no step was taken since. */
  takeLosses(): Losses | undefined;
}

export interface TrainerOptions {
  readonly engine: TorchEngine;
  readonly config: Pick<TrainConfig, "model" | "loss" | "adam" | "clip" | "ema" | "precision" | "seed" | "norms">;
  /** To start from; fresh ones by default. */
  readonly weights?: Weights | undefined;
  /** Averages gradients over processes, in place. */
  readonly reduce?: ((gradients: readonly Tensor[]) => void) | undefined;
}

const EAGER_STEPS = 3; // of each batch shape, before it is captured: they find cuDNN's algorithms

export function createTrainer({ engine, config, weights, reduce }: TrainerOptions): Trainer {
  const cuda = engine.device.startsWith("cuda");
  if (weights) checkWeights(stateShapes(config.model), weights);
  const tree = createParameters(engine, weights ? { weights } : { random: createRandom(config.seed).split("weights") });
  const network = createNetwork(tree.source, config.model);
  if (cuda) channelsLast(engine, tree);
  const parameters = [...tree.parameters.values()].map((parameter) => engine.requireGradient(parameter));
  const adam = createAdam(engine, tree.parameters, config.adam);
  const ema = createEma(engine, tree.state, config.ema);
  const totals = createTotals(engine);

  const differentiate = (batch: TrainBatch): TorchTensor[] =>
    scope(() => {
      tree.mode.training = config.norms !== "frozen";
      for (const parameter of parameters) engine.setGradient(parameter);
      const images = pixelValues(batch.images);
      const forward = () => network.forward({ images, focusDistances: batch.focusDistances });
      const prediction = cuda && config.precision === "bf16" ? engine.autocast(forward) : forward();
      const parts = totalLoss(prediction, batch, config.loss); // eq. 8
      engine.backward(parts.total);
      totals.add([parts.total, parts.depth, parts.spatial, parts.focal]);
      return parameters.map((parameter) => engine.gradient(parameter) ?? engine.compute("aten::zeros_like", parameter));
    });
  const update = (gradients: readonly TorchTensor[]): void => {
    scope(() => {
      totals.addNorm(clipGradients(engine, gradients, config.clip));
      adam.apply(gradients);
    });
  };
  const whole = (batch: TrainBatch): readonly TorchTensor[] => {
    scope(() => {
      update(differentiate(batch));
    });
    return [];
  };
  const reduced = (run: (batch: TrainBatch) => readonly TorchTensor[], average: NonNullable<typeof reduce>) => (batch: TrainBatch) => {
    const gradients = run(batch);
    average(gradients);
    update(gradients);
    return gradients;
  };
  const device = (body: (batch: TrainBatch) => readonly TorchTensor[]) => (cuda ? captured(engine, body) : body);
  const run = reduce ? reduced(device(differentiate), reduce) : device(whole);

  return {
    tree,
    network,
    adam,
    ema,
    step(batch, next) {
      adam.prepare(next);
      scope(() => void run(batch));
      totals.count();
      ema.update(next.step);
    },
    takeLosses: () => totals.take(),
  };
}

/** Bytes as values in [0, 1]. */
export const pixelValues = (images: Tensor): Tensor => (images.dtype === "u8" ? images.cast("f32").mul(1 / 255) : images);

/** Convolution weights with the channels innermost, in place: bf16 convolutions on CUDA are fastest so, and activations follow the weights. */
function channelsLast(engine: TorchEngine, tree: ParameterTree): void {
  scope(() => {
    for (const parameter of tree.parameters.values())
      if (parameter.shape.length >= 4) engine.compute("aten::set_.source_Tensor", parameter, engine.channelsLast(parameter));
  });
}

/** Sums of the losses that stay on the device, so that nobody waits for them at every step. */
function createTotals(engine: TorchEngine) {
  const names = ["total", "depth", "spatial", "focal"] as const;
  const sums = keep(engine.full([names.length], 0));
  const norm = keep(engine.full([], 0));
  let steps = 0;
  const accumulate = (target: Tensor, value: Tensor): void => {
    engine.noGradient(() => engine.call("aten::add_.Tensor", target, value));
  };
  return {
    add(parts: readonly Tensor[]): void {
      accumulate(
        sums,
        engine.noGradient(() => engine.compute("aten::stack", parts)),
      );
    },
    addNorm(value: Tensor): void {
      accumulate(norm, value);
    },
    count(): void {
      steps += 1;
    },
    take(): Losses | undefined {
      if (steps === 0) return undefined;
      const values = [...(engine.read(sums) as Float32Array), engine.item(norm)].map((sum) => sum / steps);
      steps = 0;
      scope(() => {
        engine.compute("aten::fill_.Scalar", sums, 0);
        engine.compute("aten::fill_.Scalar", norm, 0);
      });
      const [total = NaN, depth = NaN, spatial = NaN, focal = NaN, gradient = NaN] = values;
      return { total, depth, spatial, focal, gradient };
    },
  };
}

/** The step as a CUDA graph, one for each batch shape: inputs are copied into the graph's own, then it is replayed. */
function captured(engine: TorchEngine, body: (batch: TrainBatch) => readonly TorchTensor[]) {
  const known = new Map<string, { seen: number; run?: (batch: TrainBatch) => readonly TorchTensor[] }>();
  const capture = (batch: TrainBatch) => {
    const inputs = mapBatch(batch, (tensor) => keep(engine.compute("aten::clone", tensor)));
    const graph = engine.captureGraph(() => body(inputs), { warmups: 0 });
    for (const gradient of graph.result) keep(gradient);
    return (next: TrainBatch): readonly TorchTensor[] => {
      for (const name of BATCH_KEYS) engine.copy(inputs[name], next[name]);
      graph.replay();
      return graph.result;
    };
  };
  return (batch: TrainBatch): readonly TorchTensor[] => {
    const key = formatShape(batch.images.shape);
    const entry = known.get(key) ?? { seen: 0 };
    known.set(key, entry);
    entry.seen += 1;
    if (entry.seen <= EAGER_STEPS) return body(batch);
    entry.run ??= capture(batch);
    return entry.run(batch);
  };
}

const BATCH_KEYS = ["images", "focusDistances", "trueDepth", "valid"] as const satisfies (keyof TrainBatch)[];

const mapBatch = (batch: TrainBatch, f: (tensor: Tensor) => Tensor): TrainBatch => ({
  images: f(batch.images),
  focusDistances: f(batch.focusDistances),
  trueDepth: f(batch.trueDepth),
  valid: f(batch.valid),
});
