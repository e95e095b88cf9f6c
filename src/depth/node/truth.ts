import { readDepth } from "../../data/readDepth.ts";
import type { DepthMap } from "../../image/depthMap.ts";
import { absoluteRelativeError, ratioAccuracy, rootMeanSquaredError } from "../../metrics/depthErrors.ts";
import { comparedPixels } from "../../metrics/comparison.ts";
import { DualFocusError } from "../../errors.ts";
import { readingInput } from "../../system/errno.ts";

/** How far the result is from the truth. `rmse` is in the truth's unit. */
export interface TruthErrors {
  readonly absRel: number;
  readonly rmse: number;
  readonly delta1: number;
  /** Share of the pixels with known truth that the result has a value for. */
  readonly coverage: number;
  /** Plane numbers have no scale of their own: the errors are those after this line was fitted. */
  readonly fit?: TruthFit;
}

/** scale · plane number + offset ≈ the true depth, or 1 / depth: lenses are mostly stepped evenly in one of the two. */
export interface TruthFit {
  readonly of: "depth" | "1/depth";
  readonly scale: number;
  readonly offset: number;
}

const unusable = (file: string, reason: string, cause?: unknown): DualFocusError =>
  new DualFocusError("truth-unusable", `${file}: ${reason}`, { facts: { file }, cause });

/** Reads the truth for a result of this kind and size. For plane numbers it is taken as metric. */
export async function readTruth(file: string, result: Pick<DepthMap, "width" | "height" | "space">): Promise<DepthMap> {
  const isRelative = result.space === "index";
  const truth = await readingInput(file, "truth-unusable", () =>
    readDepth(file, isRelative ? "depth" : result.space, { relative: isRelative }),
  );
  if (truth.width !== result.width || truth.height !== result.height)
    throw new DualFocusError(
      "truth-size-differs",
      `${file}: ${truth.width}×${truth.height}, but the depth map is ${result.width}×${result.height}`,
      { facts: { file } },
    );
  if (!truth.valid.includes(1)) throw unusable(file, "not one of its values is a known depth");
  return truth;
}

export function compareWithTruth(depth: DepthMap, trueDepth: DepthMap, file: string): TruthErrors {
  const { mask, count } = inBoth(depth, trueDepth, file);
  const known = trueDepth.valid.reduce((sum, valid) => sum + valid, 0);
  const measured = (fitted: DepthMap): TruthErrors => {
    const comparison = { depth: fitted, trueDepth };
    return {
      absRel: absoluteRelativeError(comparison),
      rmse: rootMeanSquaredError(comparison),
      delta1: ratioAccuracy(comparison, { power: 1 }),
      coverage: count / known,
    };
  };
  if (depth.space !== "index") return measured(depth);
  const [first, second] = (["depth", "1/depth"] as const).map((of) => {
    const { fit, fitted } = fittedTo(of, { depth, trueDepth, mask });
    return { ...measured(fitted), fit };
  }) as [TruthErrors, TruthErrors];
  return second.absRel < first.absRel ? second : first;
}

/** The plane numbers as depths, by the line that fits the truth best in the least squares. */
function fittedTo(
  of: TruthFit["of"],
  { depth, trueDepth, mask }: { depth: DepthMap; trueDepth: DepthMap; mask: Uint8Array },
): { fit: TruthFit; fitted: DepthMap } {
  const inverse = of === "1/depth";
  const { scale, offset } = affineFit(depth.values, inverse ? trueDepth.values.map((value) => 1 / value) : trueDepth.values, mask);
  const values = depth.values.map((value) => {
    const line = scale * value + offset;
    return inverse ? 1 / Math.max(line, Number.EPSILON) : line; // a line that leads behind infinity is as good as there
  });
  return { fit: { of, scale, offset }, fitted: { ...depth, space: trueDepth.space, values } };
}

function inBoth(depth: DepthMap, trueDepth: DepthMap, file: string): ReturnType<typeof comparedPixels> {
  try {
    return comparedPixels({ depth: { ...depth, space: trueDepth.space }, trueDepth }, "truth");
  } catch (cause) {
    throw unusable(file, "no pixel is known both there and in the result", cause);
  }
}

/** Least squares of truth ≈ scale · value + offset over the pixels of the mask. */
function affineFit(values: Float32Array, truth: Float32Array, mask: Uint8Array): { scale: number; offset: number } {
  let [count, x, y] = [0, 0, 0];
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    count += 1;
    x += values[i] as number;
    y += truth[i] as number;
  }
  const [meanX, meanY] = [x / count, y / count];
  let [variance, covariance] = [0, 0];
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    const away = (values[i] as number) - meanX;
    variance += away ** 2;
    covariance += away * ((truth[i] as number) - meanY);
  }
  const scale = variance > 0 ? covariance / variance : 0;
  return { scale, offset: meanY - scale * meanX };
}
