import type { Dataset } from "../../../src/data/dataset.ts";
import { createRandom } from "../../../src/random.ts";
import { shuffledOrder } from "../../../src/train/files/batchPlan.ts";
import { drawFlips, drawWindow, type CropOptions } from "../../../src/train/files/crops.ts";

/**
 * The batch of a step in plain loops: whole samples as the loader gives them, then the crop, the flips, and DFV's mask of what lies between
 * the first and the last focus distance.
 */
export async function referenceBatch(dataset: Dataset, options: CropOptions & { step: number; size: number; seed: number }) {
  const { step, size, seed, crop } = options;
  const order = shuffledOrder(dataset.size, { seed, share: { rank: 0, of: 1 } });
  const [images, focusDistances, trueDepth, valid]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let place = step * size; place < (step + 1) * size; place++) {
    const { index, position } = order(place);
    const { stack, trueDepth: truth } = await dataset.sample(index);
    const random = createRandom(seed).split(`sample ${position}`);
    const [{ left, top }, flips] = [drawWindow(truth, options, random), drawFlips(random)];
    const pixels = Array.from({ length: crop * crop }, (_, i) => {
      const [y, x] = [Math.floor(i / crop), i % crop];
      return (top + (flips.rows ? crop - 1 - y : y)) * truth.width + left + (flips.columns ? crop - 1 - x : x);
    });
    const [near, far] = [Math.min(...stack.focusDistances), Math.max(...stack.focusDistances)];
    for (const pixel of pixels) {
      const depth = truth.values[pixel] as number;
      const counts = truth.valid[pixel] === 1 && depth >= near && depth <= far;
      trueDepth.push(counts ? depth : 0);
      valid.push(Number(counts));
    }
    focusDistances.push(...stack.focusDistances);
    for (const { channels, data } of stack.images)
      for (const c of [0, 1, 2]) for (const pixel of pixels) images.push(data[pixel * channels + (channels === 1 ? 0 : c)] as number);
  }
  return { images, focusDistances, trueDepth, valid };
}
