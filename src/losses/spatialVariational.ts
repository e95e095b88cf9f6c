import { z } from "zod";
import { MAP_AXIS } from "../engine/dims.ts";
import { concrete } from "../engine/dims.ts";
import type { Engine, Tensor } from "../engine/engine.ts";
import { keep } from "../engine/scope.ts";
import { perPlane } from "../model/focusHead.ts";
import type { GradientField } from "../model/surface.ts";
import type { SpatialFields } from "../model/variational.ts";
import { maskedMean } from "./maskedMean.ts";
import { sharpnessWeight } from "./sharpnessWeight.ts";

export const spatialOptions = z
  .strictObject({
    /** What the loss weighs planes by: q (eq. 4), nothing (1/N each), or blur, (1 − q) scaled to sum to 1: Table 5's last rows. */
    planeWeight: z.enum(["sharpness", "even", "blur"]),
    /** τ of q, in the unit of the depth. */
    temperature: z.number().positive(),
    /** `surface`: θ_grad(z*), the paper's loss. `gradientField`: Γ itself (its mean over channels), the ablation without integrability. */
    supervise: z.enum(["surface", "gradientField"]),
  })
  .readonly();
export type SpatialOptions = z.infer<typeof spatialOptions>;

export interface SpatialTruth {
  readonly trueDepth: Tensor;
  readonly valid: Tensor;
  /** f, [B, N]. */
  readonly focusDistances: Tensor;
}

/**
 * L_sv (eq. 5): the gradient predicted from the surface follows the true depth's, most where a plane is in focus.
 *
 *     L_sv = mean_x Σ_n q_n(x) ‖∇D*(x) − θ_grad(z*_n)(x)‖₁
 *
 * At the grid of z*: D* is the mean of the valid pixels of each cell, ∇ a forward difference between cells that are both known.
 */
export function spatialVariationalLoss(fields: SpatialFields, truth: SpatialTruth, options: Partial<SpatialOptions> = {}): Tensor {
  const { planeWeight = "sharpness", temperature = 1, supervise = "surface" } = options;
  const predicted = supervise === "surface" ? fields.surfaceGradient : channelMean(fields.gradientField); // 2 × [B, N, h, w]
  const [, N, h, w] = predicted.x.shape.map((size) => concrete(size, "spatial loss")) as [number, number, number, number];
  const cells = reduceToGrid(truth, { h, w });

  const q = sharpnessWeight({ focusDistances: perPlane(truth.focusDistances), trueDepth: cells.depth }, { temperature });
  const weight = {
    sharpness: q,
    even: q.mul(0).add(1 / N),
    blur: q
      .neg()
      .add(1)
      .mul(1 / (N - 1)),
  }[planeWeight];
  const x = directionError(cells, predicted.x, MAP_AXIS.column);
  const y = directionError(cells, predicted.y, MAP_AXIS.row);
  return maskedMean(weight.mul(x.add(y)).sum([MAP_AXIS.plane], { keepAxes: true }), cells.weight);
}

/** |∂D* − predicted| along `axis`, [B, N, h, w]; 0 where a cell or its neighbour is unknown, and on the last row or column. */
function directionError({ depth, known }: Cells, predicted: Tensor, axis: number): Tensor {
  const step = (map: Tensor, range: { start?: number; end?: number }): Tensor => map.slice(axis, range);
  const difference = step(depth, { start: 1 }).sub(step(depth, { end: -1 }));
  const both = step(known, { start: 1 }).mul(step(known, { end: -1 }));
  const error = difference
    .sub(step(predicted, { end: -1 }))
    .abs()
    .mul(both);
  return error.pad(error.shape.map((_, i) => [0, i === axis ? 1 : 0] as const));
}

interface Cells {
  readonly depth: Tensor;
  /** 1 where the cell holds at least one valid pixel. */
  readonly known: Tensor;
  /** How much the valid pixels of a cell count on average, weighted by themselves: 1 where all count fully, 0 where none is valid. */
  readonly weight: Tensor;
}

/** Mean of the valid pixels of each cell of an h × w grid, each counting by its weight. */
function reduceToGrid({ trueDepth, valid }: SpatialTruth, { h, w }: { readonly h: number; readonly w: number }): Cells {
  const share = areaMean(valid, { h, w });
  const known = share.greater(0).cast(trueDepth.dtype);
  const perShare = share.add(known.neg().add(1)).pow(-1);
  const mean = (values: Tensor): Tensor => areaMean(values.mul(valid), { h, w }).mul(perShare);
  return { depth: mean(trueDepth), known, weight: mean(valid) };
}

/** Mean over the cells of an h × w grid, cells of equal (fractional) size. */
function areaMean(map: Tensor, { h, w }: { readonly h: number; readonly w: number }): Tensor {
  const [H, W] = map.shape.slice(-2).map((size) => concrete(size, "spatial loss")) as [number, number];
  // Not avgPool: for a handful of cells its CUDA kernel starts a handful of threads.
  if (H % h === 0 && W % w === 0) return map.reshape([...map.shape.slice(0, -2), h, H / h, w, W / w]).mean([-3, -1]);
  const rows = areaMatrix(map, { from: H, to: h });
  const columns = areaMatrix(map, { from: W, to: w }).permute([1, 0]);
  return map.engine.fullPrecision(() => rows.matmul(map).matmul(columns));
}

/** Kept for each engine: a step captured as a CUDA graph must not fetch them from the host. */
const areaMatrices = new WeakMap<Engine, Map<string, Tensor>>();

function areaMatrix({ engine, dtype }: Tensor, { from, to }: { readonly from: number; readonly to: number }): Tensor {
  const known = areaMatrices.get(engine) ?? new Map<string, Tensor>();
  areaMatrices.set(engine, known);
  const key = `${from} ${to} ${dtype}`;
  const matrix = known.get(key) ?? keep(engine.constant(areaWeights(from, to), { shape: [to, from], dtype }));
  known.set(key, matrix);
  return matrix;
}

/** Row i holds how much of each of `from` pixels lies in cell i of `to` equal cells; rows sum to 1. Row-major [to, from]. */
export function areaWeights(from: number, to: number): Float64Array {
  const side = from / to;
  return Float64Array.from({ length: to * from }, (_, index) => {
    const [cell, pixel] = [Math.floor(index / from), index % from];
    const overlap = Math.min(pixel + 1, (cell + 1) * side) - Math.max(pixel, cell * side);
    return Math.max(0, overlap) / side;
  });
}

const channelMean = ({ x, y }: GradientField): GradientField => ({ x: x.mean([1]), y: y.mean([1]) });
