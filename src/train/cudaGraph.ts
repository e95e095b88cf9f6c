import { formatShape } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { keep } from "../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch/torchEngine.ts";
import { BATCH_KEYS, type TrainBatch } from "./batch.ts";

/** Part of a training step: from a batch to gradients, or to nothing when it has updated the weights itself. */
export type StepPart = (batch: TrainBatch) => readonly TorchTensor[];

const EAGER_STEPS = 3; // of each batch shape, before it is captured: they find cuDNN's algorithms

/** `part` as a CUDA graph, one for each batch shape: inputs are copied into the graph's own, then it is replayed. */
export function captured(engine: TorchEngine, part: StepPart): StepPart {
  const known = new Map<string, { seen: number; run?: StepPart }>();
  return (batch) => {
    const key = formatShape(batch.images.shape);
    const entry = known.get(key) ?? { seen: 0 };
    known.set(key, entry);
    entry.seen += 1;
    if (entry.seen <= EAGER_STEPS) return part(batch);
    entry.run ??= capture(engine, part, batch);
    return entry.run(batch);
  };
}

function capture(engine: TorchEngine, part: StepPart, batch: TrainBatch): StepPart {
  const clone = (tensor: Tensor): Tensor => keep(engine.compute("aten::clone", tensor));
  const inputs: TrainBatch = {
    images: clone(batch.images),
    focusDistances: clone(batch.focusDistances),
    trueDepth: clone(batch.trueDepth),
    valid: clone(batch.valid),
  };
  const graph = engine.captureGraph(() => part(inputs), { warmups: 0 });
  for (const gradient of graph.result) keep(gradient);
  return (next) => {
    for (const name of BATCH_KEYS) engine.copy(inputs[name], next[name]);
    graph.replay();
    return graph.result;
  };
}
