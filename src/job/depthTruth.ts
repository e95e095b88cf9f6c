import { readDepth } from "../data/readDepth.ts";
import type { DepthMap } from "../depth.ts";
import { absoluteRelativeError, ratioAccuracy, rootMeanSquaredError } from "../metrics/depthErrors.ts";
import { comparedPixels } from "../metrics/comparison.ts";
import { readingInput } from "./depthErrors.ts";
import { UserError } from "./errors.ts";

/** How far the result is from the truth. `rmse` is in the truth's unit. */
export interface TruthErrors {
  readonly absRel: number;
  readonly rmse: number;
  readonly delta1: number;
  /** Share of the pixels with known truth that the result has a value for. */
  readonly coverage: number;
  /** Plane numbers have no scale of their own: the errors are those after truth ≈ scale · number + offset was fitted. */
  readonly fit?: { readonly scale: number; readonly offset: number };
}

const REMEDY = "--truth takes npy, png, tif, exr or pfm: one number per pixel, floats in metres or integers in millimetres";

/** Reads the truth for a result of this kind and size. For plane numbers it is taken as metric. */
export async function readTruth(file: string, result: Pick<DepthMap, "width" | "height" | "space">): Promise<DepthMap> {
  const truth = await readingInput(file, REMEDY, () => readDepth(file, result.space === "index" ? "depth" : result.space));
  if (truth.width !== result.width || truth.height !== result.height)
    throw new UserError(`${file}: ${truth.width}×${truth.height}, but the depth map is ${result.width}×${result.height}`, {
      exitCode: 3,
      remedy: "give the truth in the size of the pictures",
    });
  if (!truth.valid.includes(1)) throw new UserError(`${file}: not one of its values is a known depth`, { exitCode: 3, remedy: REMEDY });
  return truth;
}

export function compareWithTruth(depth: DepthMap, trueDepth: DepthMap, file: string): TruthErrors {
  const { mask, count } = inBoth(depth, trueDepth, file);
  const known = trueDepth.valid.reduce((sum, valid) => sum + valid, 0);
  const fit = depth.space === "index" ? affineFit(depth.values, trueDepth.values, mask) : undefined;
  const fitted = fit ? { ...depth, space: trueDepth.space, values: depth.values.map((value) => fit.scale * value + fit.offset) } : depth;
  const comparison = { depth: fitted, trueDepth };
  return {
    absRel: absoluteRelativeError(comparison),
    rmse: rootMeanSquaredError(comparison),
    delta1: ratioAccuracy(comparison, { power: 1 }),
    coverage: count / known,
    ...(fit ? { fit } : {}),
  };
}

function inBoth(depth: DepthMap, trueDepth: DepthMap, file: string): ReturnType<typeof comparedPixels> {
  try {
    return comparedPixels({ depth: { ...depth, space: trueDepth.space }, trueDepth }, "truth");
  } catch (cause) {
    throw new UserError(`${file}: no pixel is known both there and in the result`, { exitCode: 3, remedy: REMEDY, cause });
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
