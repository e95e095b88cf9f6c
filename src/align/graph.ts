import type { Size } from "../image/image.ts";
import { compose, distance, IDENTITY, invert, linearOf, type Similarity, similarityOf } from "./similarity.ts";
import { solveSymmetric } from "./solve.ts";

/** A measured transform from points of frame `from` to points of frame `to`. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly transform: Similarity;
  /** Standard error, pixels. */
  readonly error: number;
}

export interface Placement {
  /** From points of the reference to points of the frame. */
  readonly transform: Similarity;
  /** Standard error, pixels; 0 for the reference. */
  readonly error: number;
}

/** Rounds of reducing the weights of edges that contradict the others. */
const ROUNDS = 6;

/** Smaller standard errors, in pixels, are raised to this when edges are weighted. */
const LEAST_ERROR = 0.02;

/**
 * The transforms of all frames that agree best with the measured ones. With p' = α p + τ in complex numbers, T_to = T_edge ∘ T_from is
 *
 *     α_to = α_edge α_from,    τ_to = α_edge τ_from + τ_edge,
 *
 * linear in the unknowns: two least squares problems with one matrix. Every frame must be linked to the reference.
 */
export function placeFrames(
  edges: readonly Edge[],
  { frames, reference, size }: { frames: number; reference: number; size: Size },
): Placement[] {
  if (frames === 1) return [{ transform: IDENTITY, error: 0 }];
  let weights = edges.map(({ error }) => 1 / Math.max(error, LEAST_ERROR) ** 2);
  let transforms: Similarity[] = Array.from({ length: frames }, () => IDENTITY);
  for (let round = 0; round < ROUNDS; round++) {
    transforms = solveTransforms(edges, { weights, frames, reference });
    weights = edges.map((edge) => {
      const sigma = Math.max(edge.error, LEAST_ERROR);
      return 1 / sigma ** 2 / (1 + (contradiction(edge, transforms, size) / (3 * sigma)) ** 2);
    });
  }
  const errors = placementErrors(edges, { weights, frames, reference });
  return transforms.map((transform, n) => ({ transform, error: errors[n] as number }));
}

/** Distance in pixels between the measured transform of an edge and that of the placed frames. */
export function contradiction({ from, to, transform }: Edge, placed: readonly Similarity[], size: Size): number {
  const between = compose({ first: invert(placed[from] as Similarity), second: placed[to] as Similarity });
  return distance(transform, between, size);
}

interface Weighted {
  readonly weights: readonly number[];
  readonly frames: number;
  readonly reference: number;
}

function solveTransforms(edges: readonly Edge[], { weights, frames, reference }: Weighted): Similarity[] {
  const unknowns = 2 * frames; // real and imaginary part per frame
  const matrix = new Float64Array(unknowns ** 2);
  const [turns, shifts] = [new Float64Array(unknowns), new Float64Array(unknowns)];
  const add = (row: number, column: number, value: number): void => {
    matrix[row * unknowns + column] = (matrix[row * unknowns + column] as number) + value;
  };
  const addTo = (right: Float64Array, row: number, value: number): void => {
    right[row] = (right[row] as number) + value;
  };
  edges.forEach(({ from, to, transform }, e) => {
    const w = weights[e] as number;
    const { a, b, x, y } = linearOf(transform);
    // Two real equations, z_to - α z_from = τ: each is a row of four coefficients.
    const rows = [
      { coefficients: [[2 * to, 1], [2 * from, -a], [2 * from + 1, b]] as const, value: x }, // prettier-ignore
      { coefficients: [[2 * to + 1, 1], [2 * from, -b], [2 * from + 1, -a]] as const, value: y }, // prettier-ignore
    ];
    for (const { coefficients, value } of rows)
      for (const [i, p] of coefficients) {
        for (const [j, q] of coefficients) add(i, j, w * p * q);
        addTo(shifts, i, w * p * value);
      }
  });
  const heavy = 1e6 * Math.max(...weights); // holds the reference at α = 1, τ = 0
  for (const i of [2 * reference, 2 * reference + 1]) add(i, i, heavy);
  addTo(turns, 2 * reference, heavy);
  const [alpha, tau] = [solveSymmetric(matrix, turns), solveSymmetric(matrix, shifts)];
  if (!alpha || !tau) throw new Error("placeFrames: a frame is not linked to the reference");
  return Array.from({ length: frames }, (_, n) => {
    if (n === reference) return IDENTITY;
    const [a, b, x, y] = [alpha[2 * n] as number, alpha[2 * n + 1] as number, tau[2 * n] as number, tau[2 * n + 1] as number];
    return similarityOf({ a, b, x, y });
  });
}

/** Errors add along the links like resistances: the diagonal of the inverse of the weighted graph Laplacian. */
function placementErrors(edges: readonly Edge[], { weights, frames, reference }: Weighted): number[] {
  const matrix = new Float64Array(frames ** 2);
  const add = (row: number, column: number, value: number): void => {
    matrix[row * frames + column] = (matrix[row * frames + column] as number) + value;
  };
  edges.forEach(({ from, to }, e) => {
    const w = weights[e] as number;
    add(from, from, w);
    add(to, to, w);
    add(from, to, -w);
    add(to, from, -w);
  });
  add(reference, reference, 1e6 * Math.max(...weights));
  return Array.from({ length: frames }, (_, n) => {
    if (n === reference) return 0;
    const unit = Array.from({ length: frames }, (_, i) => (i === n ? 1 : 0));
    return Math.sqrt(solveSymmetric(matrix, unit)?.[n] ?? Infinity);
  });
}
