import type { Size } from "./image.ts";
import { blockOf, valuesOf, type Block } from "./pyramid.ts";
import { workspace } from "./simd/workspace.ts";

/** One value per pixel, row by row. */
export interface Plane extends Size {
  readonly values: Float32Array;
}

/** Mean over the square of side 2·radius + 1 around each pixel, without what is outside the image. */
export const boxMean = ({ width, height, values }: Plane, radius: number): Float32Array =>
  workspace().scoped(() => valuesOf(boxMeanBlock(blockOf({ width, height, channels: 1, data: values }), radius)).slice());

/** The same of a block of one channel. */
export function boxMeanBlock({ width, height, address }: Block, radius: number): Block {
  if (!(Number.isInteger(radius) && radius >= 0)) throw new RangeError(`boxMean: the radius must be an integer ≥ 0, got ${radius}`);
  const { kernels, take } = workspace();
  const means = take(width * height);
  kernels.boxMean(means, address, width, height, radius, take(2 * width), take(width + 2 * radius + 8));
  return { width, height, channels: 1, address: means };
}

/** Σ over the channels of the squared samples, mean over squares of side 2·radius + 1. */
export function localEnergy({ width, height, channels, address }: Block, radius: number): Block {
  const { kernels, take } = workspace();
  const squares = take(width * height);
  kernels.energies(squares, address, width * height, channels);
  return boxMeanBlock({ width, height, channels: 1, address: squares }, radius);
}

/** Two box filters of a block of one channel: close to a Gaussian, without side lobes. */
export const smoothBlock = (block: Block, radius: number): Block => boxMeanBlock(boxMeanBlock(block, radius), radius);
