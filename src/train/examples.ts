import { scope } from "../engine/scope.ts";
import { interleave } from "../optics/render/render.ts";
import { pixelValues, type TrainBatch } from "./batch.ts";
import type { Evaluation } from "./evaluate.ts";
import type { Example } from "./report.ts";

/**
 * Depth maps of one batch by the averaged weights, from the first plane (white) to the last (black), in whatever unit the depth is; the
 * error is black at 0 and white at a whole plane, which is the mean distance between two.
 */
export async function exampleMaps({ engine, trainer }: Evaluation, batch: TrainBatch, names: readonly string[] = []): Promise<Example[]> {
  const [B, N, , height, width] = batch.images.shape as [number, number, number, number, number];
  const pixels = width * height;
  const read = await trainer.ema.withAverages(() =>
    Promise.resolve(
      engine.noGradient(() =>
        scope(() => {
          trainer.tree.mode.training = false;
          const images = pixelValues(batch.images);
          const { depth } = trainer.network.forward({ images, focusDistances: batch.focusDistances });
          const middle = images.slice(1, { start: N >> 1, end: (N >> 1) + 1 });
          return [middle, depth, batch.trueDepth, batch.valid, batch.focusDistances].map((tensor) => engine.read(tensor) as Float32Array);
        }),
      ),
    ),
  );
  const [pictures, depths, truths, valid, distances] = read as [Float32Array, Float32Array, Float32Array, Float32Array, Float32Array];
  const part = (values: Float32Array, b: number, channels = 1): Float32Array =>
    values.subarray(b * channels * pixels, (b + 1) * channels * pixels);
  const grey = (data: Float32Array) => ({ width, height, channels: 1 as const, data });
  return Array.from({ length: B }, (_, b) => {
    const [depth, truth, known] = [part(depths, b), part(truths, b), part(valid, b)];
    const [first, last] = [distances[b * N] as number, distances[(b + 1) * N - 1] as number];
    const plane = (last - first) / (N - 1);
    const shade = (value: number): number => 1 - (value - first) / (last - first);
    return {
      name: names[b] ?? `stack ${b + 1}`,
      picture: interleave(part(pictures, b, 3), width, height),
      truth: grey(truth.map((value, i) => (known[i] ? shade(value) : 0))),
      prediction: grey(depth.map(shade)),
      error: grey(depth.map((value, i) => (known[i] ? Math.abs((value - (truth[i] as number)) / plane) : 0))),
    };
  });
}
