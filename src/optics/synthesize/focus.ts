import type { DepthMap } from "../../image/depthMap.ts";

/**
 * How the focus distances of a synthetic stack are chosen.
 * `linear`: evenly in depth from the least to the greatest valid depth of the image (HybridDepth's NYU and ARKitScenes stacks).
 * `adaptive`: evenly in 1/depth between two quantiles of the image's own 1/depth (FOSSA's protocol for RGB-D sets).
 * `explicit`: the given distances, in metres.
 */
export type FocusProtocol =
  | { readonly kind: "linear"; readonly planes: number }
  | { readonly kind: "adaptive"; readonly planes: number; readonly quantiles?: readonly [number, number] }
  | { readonly kind: "explicit"; readonly distances: readonly number[] };

/** The focus distances in metres, near to far. */
export function protocolDistances(depth: DepthMap, protocol: FocusProtocol): number[] {
  switch (protocol.kind) {
    case "explicit":
      return [...protocol.distances].sort((a, b) => a - b);
    case "linear": {
      const { min, max } = depthRange(depth);
      return spaced({ from: min, to: max, planes: protocol.planes });
    }
    case "adaptive": {
      const disparity = validDepths(depth)
        .map((value) => 1 / value)
        .sort();
      const [low, high] = protocol.quantiles ?? [0.05, 0.95];
      const dioptres = spaced({ from: quantile(disparity, low), to: quantile(disparity, high), planes: protocol.planes });
      return dioptres.map((value) => 1 / value).reverse();
    }
  }
}

/** Least and greatest valid depth, in metres. */
export function depthRange(depth: DepthMap): { min: number; max: number } {
  let [min, max] = [Infinity, -Infinity];
  for (const value of validDepths(depth)) {
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  return { min, max };
}

function validDepths({ values, valid }: DepthMap): Float64Array {
  const known = Float64Array.from(values).filter((_, i) => valid[i] === 1);
  if (known.length === 0) throw new RangeError("synthesize: the depth map has no valid pixel");
  return known;
}

/** `planes` values evenly from one to the other, both among them. */
export function spaced({ from, to, planes }: { from: number; to: number; planes: number }): number[] {
  if (!(Number.isInteger(planes) && planes >= 2)) throw new RangeError(`synthesize: a stack needs at least 2 planes, got ${planes}`);
  if (!(to > from))
    throw new RangeError("synthesize: the depth is constant, so focus distances cannot be derived from it; give them explicitly");
  return Array.from({ length: planes }, (_, n) => from + ((to - from) * n) / (planes - 1));
}

/** Linear between the two nearest order statistics, as NumPy's default. */
function quantile(sorted: Float64Array, share: number): number {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low + (high - low) * (position - below);
}
