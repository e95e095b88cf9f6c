import { concrete } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { convNorm2d, type ConvNorm } from "./convNorm.ts";
import type { ParameterSource } from "./module.ts";

/**
 * The pooling windows of the branches.
 * `dfv`: windows that split the map into 1 to side/2 parts, as in DFV's code. Their size depends on the image's, so a graph can only
 * be recorded for one size.
 * `sliding`: windows of 3, 5 and 9 around each pixel, and the whole map: the same context at any size, one graph for all.
 */
export type PoolingWindows = "dfv" | "sliding";

const SLIDING = [3, 5, 9] as const;
const BRANCHES = 4;

/** Part counts 1 … `most`, evenly spaced and rounded down, as NumPy's `linspace(1, most, 4).astype(int)`. */
export const partCounts = (most: number): number[] =>
  Array.from({ length: BRANCHES }, (_, i) => Math.floor(1 + (i * (most - 1)) / (BRANCHES - 1)));

/** Context from four window sizes: out = ReLU((x + ¼ Σ branches) / 2), each branch pooling, 1×1 convolution, norm, LeakyReLU. */
export class PyramidPooling {
  readonly branches: readonly ConvNorm[];
  readonly windows: PoolingWindows;

  constructor(source: ParameterSource, { channels, windows }: { readonly channels: number; readonly windows: PoolingWindows }) {
    this.branches = Array.from({ length: BRANCHES }, (_, i) =>
      convNorm2d(source.at(i), { in: channels, out: channels, kernel: 1, activation: "leakyRelu" }),
    );
    this.windows = windows;
  }

  /** [B, C, h, w] → the same shape. */
  forward(x: Tensor): Tensor {
    const pooled = this.windows === "dfv" ? dfvPools(x) : slidingPools(x);
    const context = this.branches
      .map((branch, i) => branch.forward(pooled[i] as Tensor))
      .map((y) => (this.windows === "dfv" ? y.resize2d([x.shape[2] ?? 0, x.shape[3] ?? 0], "bilinear") : y))
      .reduce((sum, y) => sum.add(y)); //                          the global branch is 1×1 and broadcasts
    return x
      .add(context.mul(1 / BRANCHES))
      .mul(0.5)
      .relu();
  }
}

function slidingPools(x: Tensor): Tensor[] {
  const around = SLIDING.map((side) => {
    const reach = (side - 1) / 2;
    return x.avgPool({ kernel: [side, side], stride: [1, 1], padding: [reach, reach] });
  });
  return [...around, x.mean([2, 3], { keepAxes: true })];
}

/** Kernel = stride = ⌊side / parts⌋, smallest kernel first. */
function dfvPools(x: Tensor): Tensor[] {
  const [h, w] = [concrete(x.shape[2] ?? 0, "pyramid pooling"), concrete(x.shape[3] ?? 0, "pyramid pooling")];
  return partCounts(Math.floor(Math.min(h, w) / 2))
    .reverse()
    .map((parts) => {
      const window = [Math.floor(h / parts), Math.floor(w / parts)];
      return x.avgPool({ kernel: window, stride: window });
    });
}
