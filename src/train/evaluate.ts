import { setImmediate } from "node:timers/promises";
import { MAP_AXIS } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { keep, scope } from "../engine/scope.ts";
import type { TorchEngine } from "../engine/torch/torchEngine.ts";
import { wrongSteps } from "../losses/focalVariational.ts";
import { choosePlanes } from "../stack/focalStack.ts";
import { disposeBatch, type TrainBatch } from "./batch.ts";
import { planeCoordinates } from "./deviceAugment.ts";
import type { StackPool } from "./renderPool.ts";
import { forward, type Trainer } from "./trainer.ts";

/** Over all valid pixels together; in the unit of the depth, planes for rendered stacks. */
export interface Metrics {
  readonly rmse: number;
  /** Mean over the stacks of each one's own RMSE, as the published tables have it. */
  readonly imageRmse: number;
  readonly mae: number;
  /** Share of pixels with an error below a quarter. */
  readonly within: number;
  /** Share of pixels whose focus probability does not rise to one peak and fall behind it, rounding below 1e-6 aside. */
  readonly invalidTrend: number;
}

const TREND_TOLERANCE = 1e-6;

export interface Evaluation {
  readonly engine: TorchEngine;
  readonly trainer: Trainer;
  readonly precision: "f32" | "bf16";
  /** Ends it early: the evaluation then rejects with the signal's reason. */
  readonly stop?: AbortSignal | undefined;
}

/** Runs the averaged weights over batches, which it frees. Sums stay on the device until the end. */
export async function evaluate(
  { engine, trainer, precision, stop }: Evaluation,
  batches: AsyncIterable<TrainBatch> | Iterable<TrainBatch>,
): Promise<Metrics> {
  const sums = keep(engine.full([7], 0, { dtype: "f64" }));
  const run = async (): Promise<void> => {
    for await (const batch of batches) {
      engine.noGradient(() => {
        scope(() => {
          engine.call("aten::add_.Tensor", sums, batchSums({ engine, trainer, precision }, batch));
        });
      });
      disposeBatch(batch);
      await setImmediate(); // signals arrive only when the event loop turns
      stop?.throwIfAborted();
    }
  };
  try {
    await trainer.ema.withAverages(run);
    const [pixels = 0, squares = 0, errors = 0, close = 0, wrong = 0, roots = 0, stacks = 0] = engine.read(sums) as Float64Array;
    return {
      rmse: Math.sqrt(squares / pixels),
      imageRmse: roots / stacks,
      mae: errors / pixels,
      within: close / pixels,
      invalidTrend: wrong / pixels,
    };
  } finally {
    sums.dispose();
  }
}

function batchSums({ engine, trainer, precision }: Evaluation, batch: TrainBatch): Tensor {
  const { trueDepth, valid } = batch;
  trainer.tree.mode.training = false;
  const { depth, focusProbability } = forward({ engine, network: trainer.network, precision }, batch);
  const error = depth.cast("f32").sub(trueDepth).abs();
  const total = (values: Tensor): Tensor => values.cast("f64").mul(valid.cast("f64")).sum();
  const parts = [valid, error.square(), error, error.less(0.25), wrongTrend(focusProbability)].map(total);
  const perStack = (values: Tensor): Tensor => values.cast("f64").mul(valid.cast("f64")).sum([1, 2, 3]);
  const pixels = perStack(valid); // [B]
  const roots = perStack(error.square()).div(pixels.maximum(1)).sqrt().sum();
  return engine.compute("aten::stack", [...parts, roots, pixels.greater(0).cast("f64").sum()]);
}

/** Where p falls before its peak or rises behind it; bool [B, 1, H, W]. */
function wrongTrend(p: Tensor): Tensor {
  return wrongSteps(p).max(MAP_AXIS.plane, { keepAxes: true }).greater(TREND_TOLERANCE);
}

export interface PoolBatches {
  readonly planes: number;
  readonly crop: number;
  readonly size: number;
  /** Ends the rendering of a pool that is not yet rendered. */
  readonly stop?: AbortSignal | undefined;
}

/** The whole pool in order, middle crops, `planes` evenly spread planes, depth in planes along dioptres: the rendered benchmark. */
export async function* poolBatches(
  engine: TorchEngine,
  pool: StackPool,
  { planes, crop, size, stop }: PoolBatches,
): AsyncGenerator<TrainBatch> {
  await pool.advance(0, { stop });
  const chosen = choosePlanes(pool.planes, planes);
  const [start, end] = [(pool.side - crop) >> 1, ((pool.side - crop) >> 1) + crop];
  const middle = (tensor: Tensor): Tensor => tensor.slice(-2, { start, end }).slice(-1, { start, end });
  for (let first = 0; first < pool.size; first += size) {
    const count = Math.min(size, pool.size - first);
    yield engine.noGradient(() =>
      scope(() => {
        const range = { start: first, end: first + count };
        const stacks = pool.images.slice(0, { start: first * pool.planes, end: range.end * pool.planes });
        const all = stacks.reshape([count, pool.planes, 3, pool.side, pool.side]);
        const index = engine.constant(chosen, { shape: [planes], dtype: "i64" });
        const focusDistances = engine.compute("aten::index_select", pool.focusDistances.slice(0, range), 1, index);
        const images = engine.compute("aten::index_select", middle(all), 1, index);
        const dioptres = engine.full([count, 1], 1, { dtype: "bool" });
        const depth = engine.compute("aten::clone", middle(pool.depth.slice(0, range)));
        return { images, ...planeCoordinates({ depth, focusDistances, dioptres }) };
      }),
    );
  }
}
