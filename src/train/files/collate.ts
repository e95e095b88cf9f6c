import type { Space } from "../../image/depthMap.ts";
import type { Sample } from "../../data/dataset.ts";

/** Samples of one size side by side, planar, ready to become tensors. */
export interface Batch {
  readonly batch: number;
  readonly planes: number;
  readonly height: number;
  readonly width: number;
  /** [batch, planes, 3, height, width], values in [0, 1]. */
  readonly images: Float32Array;
  /** [batch, planes]. */
  readonly focusDistances: Float32Array;
  /** [batch, 1, height, width]; 0 where not valid. */
  readonly trueDepth: Float32Array;
  /** [batch, 1, height, width], 1 or 0. */
  readonly valid: Float32Array;
  readonly spaces: readonly Space[];
  readonly names: readonly string[];
}

/** Grey pictures are repeated over the three colours. */
export function collate(samples: readonly Sample[]): Batch {
  const [first] = samples;
  if (!first) throw new RangeError("collate: a batch needs at least one sample");
  const planes = first.stack.images.length;
  const { width, height } = first.trueDepth;
  const pixels = width * height;
  const images = new Float32Array(samples.length * planes * 3 * pixels);
  const focusDistances = new Float32Array(samples.length * planes);
  const trueDepth = new Float32Array(samples.length * pixels);
  const valid = new Float32Array(samples.length * pixels);
  for (const [b, sample] of samples.entries()) {
    checkSize(sample, { first, planes, width, height });
    focusDistances.set(sample.stack.focusDistances, b * planes);
    for (let i = 0; i < pixels; i++) {
      if (!sample.trueDepth.valid[i]) continue;
      trueDepth[b * pixels + i] = sample.trueDepth.values[i] as number;
      valid[b * pixels + i] = 1;
    }
    for (const [n, { channels, data }] of sample.stack.images.entries())
      for (let c = 0; c < 3; c++) {
        const start = ((b * planes + n) * 3 + c) * pixels;
        const from = channels === 1 ? 0 : c;
        for (let i = 0; i < pixels; i++) images[start + i] = data[i * channels + from] as number;
      }
  }
  const spaces = samples.map(({ stack }) => stack.space);
  return {
    batch: samples.length,
    planes,
    height,
    width,
    images,
    focusDistances,
    trueDepth,
    valid,
    spaces,
    names: samples.map(({ name }) => name),
  };
}

function checkSize(
  sample: Sample,
  { first, planes, width, height }: { first: Sample; planes: number; width: number; height: number },
): void {
  const { images } = sample.stack;
  const odd = [sample.trueDepth, ...images].find((map) => map.width !== width || map.height !== height);
  if (odd || images.length !== planes)
    throw new RangeError(
      `collate: ${sample.name} has ${images.length} planes of ${odd?.width ?? width}×${odd?.height ?? height}, ` +
        `${first.name} has ${planes} of ${width}×${height}; crop and choose planes so that they agree`,
    );
}
