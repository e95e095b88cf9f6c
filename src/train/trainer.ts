import type { Tensor } from "../engine/engine.ts";
import { keep, scope } from "../engine/scope.ts";
import type { TorchEngine } from "../engine/torch/torchEngine.ts";
import { totalLoss, type LossParts } from "../losses/total.ts";
import { createNetwork, type Network, type Prediction } from "../model/network.ts";
import { stateShapes } from "../model/state.ts";
import { checkWeights, type Weights } from "../io/safetensors.ts";
import { createParameters, type ParameterTree } from "../nn/module.ts";
import { createRandom } from "../random.ts";
import { createAdam, type Adam } from "./adam.ts";
import { pixelValues, type TrainBatch } from "./batch.ts";
import { clipGradients } from "./clip.ts";
import type { TrainConfig } from "./config.ts";
import { captured, type StepPart } from "./cudaGraph.ts";
import { createEma, type Ema } from "./ema.ts";

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

export function createTrainer({ engine, config, weights, reduce }: TrainerOptions): Trainer {
  const cuda = engine.device.startsWith("cuda");
  if (weights) checkWeights(stateShapes(config.model), weights);
  const tree = createParameters(engine, weights ? { weights } : { random: createRandom(config.seed).split("weights") });
  const network = createNetwork(tree.source, config.model);
  if (cuda) channelsLast(engine, tree);
  const parameters = [...tree.parameters.values()].map((parameter) => engine.requireGradient(parameter));
  const adam = createAdam(engine, tree.parameters, config.adam);
  const ema = createEma(engine, tree.state, config.ema);
  const sums = createLossSums(engine);

  /** Forward → loss → backward. */
  const differentiate: StepPart = (batch) =>
    scope(() => {
      tree.mode.training = config.norms !== "frozen";
      for (const parameter of parameters) engine.setGradient(parameter);
      const prediction = forward({ engine, network, precision: config.precision }, batch);
      const losses = totalLoss(prediction, batch, config.loss); // eq. 8
      engine.backward(losses.total);
      sums.add(losses);
      return parameters.map((parameter) => engine.gradient(parameter) ?? engine.compute("aten::zeros_like", parameter));
    });

  // On CUDA the device runs as much of a step as it can by itself, as one graph: all of it, or what precedes the exchange with others.
  const graphOf = (part: StepPart): StepPart => (cuda ? captured(engine, part) : part);
  const gradientsOf = reduce ? graphOf(differentiate) : differentiate;

  /** Forward → loss → backward → reduce → clip → Adam. */
  const optimize: StepPart = (batch) => {
    scope(() => {
      const gradients = gradientsOf(batch);
      reduce?.(gradients);
      sums.addNorm(clipGradients(engine, gradients, config.clip));
      adam.apply(gradients);
    });
    return [];
  };
  const run = reduce ? optimize : graphOf(optimize);

  return {
    tree,
    network,
    adam,
    ema,
    step(batch, next) {
      adam.prepare(next);
      scope(() => void run(batch));
      ema.update(next.step);
      sums.countStep();
    },
    takeLosses: () => sums.take(),
  };
}

/** The network on a batch; convolutions and products in bf16 where that is asked for and the device is a GPU. */
export function forward(
  { engine, network, precision }: { engine: TorchEngine; network: Network; precision: TrainConfig["precision"] },
  { images, focusDistances }: Pick<TrainBatch, "images" | "focusDistances">,
): Prediction {
  const input = { images: pixelValues(images), focusDistances };
  const run = (): Prediction => network.forward(input);
  return precision === "bf16" && engine.device.startsWith("cuda") ? engine.autocast(run) : run();
}

/** Convolution weights with the channels innermost, in place: bf16 convolutions on CUDA are fastest so, and activations follow the weights. */
function channelsLast(engine: TorchEngine, tree: ParameterTree): void {
  scope(() => {
    for (const parameter of tree.parameters.values())
      if (parameter.shape.length >= 4) engine.compute("aten::set_.source_Tensor", parameter, engine.channelsLast(parameter));
  });
}

/** Sums of the losses. They stay on the device, so that nothing waits for them at every step. */
function createLossSums(engine: TorchEngine) {
  const sums = keep(engine.full([4], 0)); // total, depth, spatial, focal
  const norm = keep(engine.full([], 0));
  let steps = 0;
  return {
    add({ total, depth, spatial, focal }: LossParts): void {
      engine.noGradient(() => engine.call("aten::add_.Tensor", sums, engine.compute("aten::stack", [total, depth, spatial, focal])));
    },
    addNorm(value: Tensor): void {
      engine.noGradient(() => engine.call("aten::add_.Tensor", norm, value));
    },
    countStep(): void {
      steps += 1;
    },
    take(): Losses | undefined {
      if (steps === 0) return undefined;
      const means = [...(engine.read(sums) as Float32Array), engine.item(norm)].map((sum) => sum / steps);
      steps = 0;
      scope(() => {
        engine.compute("aten::fill_.Scalar", sums, 0);
        engine.compute("aten::fill_.Scalar", norm, 0);
      });
      const [total = NaN, depth = NaN, spatial = NaN, focal = NaN, gradient = NaN] = means;
      return { total, depth, spatial, focal, gradient };
    },
  };
}
