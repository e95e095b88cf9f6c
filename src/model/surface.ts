import type { DType, Engine, Tensor } from "../engine/engine.ts";
import { formatShape } from "../engine/dims.ts";
import { ShapeError } from "../engine/errors.ts";
import { keep } from "../engine/scope.ts";
import { cosineBasis, differenceEigenvalue, differenceMatrix, differenceOperator, surfaceOperator } from "./differenceOperator.ts";

/** Γ = (Γˣ, Γʸ), each [..., h, w]. */
export interface GradientField {
  readonly x: Tensor;
  readonly y: Tensor;
}

/** Γ → z*: the surface whose gradient is closest to Γ. Any leading axes; the last two are the grid. */
export interface SurfaceSolver {
  solve(gradientField: GradientField, confidence?: GradientField): Tensor;
}

export interface Grid {
  readonly h: number;
  readonly w: number;
}

/** Up to this many pixels of the grid, the solution is one product with a matrix of at most 0.5 MB: one launch instead of a dozen. */
const MOST_FOR_PRODUCT = 256;

/** z* = argmin ‖P z − Γ‖² with zero mean (eq. 3), exactly. No system is solved at run time and the backward pass is the transpose. */
export function cosineSolver(engine: Engine, grid: Grid, options: { readonly dtype?: DType } = {}): SurfaceSolver {
  return grid.h * grid.w <= MOST_FOR_PRODUCT ? productSolver(engine, grid, options) : transformSolver(engine, grid, options);
}

/** z* = (PᵀP)⁺Pᵀ Γ, the matrix computed once by the cosine transform. */
function productSolver(engine: Engine, { h, w }: Grid, { dtype = "f32" }: { readonly dtype?: DType }): SurfaceSolver {
  const pixels = h * w;
  const operator = keep(engine.constant(surfaceOperator(h, w), { shape: [2 * pixels, pixels], dtype }));
  return {
    solve: ({ x, y }) =>
      engine.fullPrecision(() => {
        checkGrid(x, { h, w });
        checkGrid(y, { h, w });
        const batch = x.shape.slice(0, -2);
        const flat = (tensor: Tensor): Tensor => tensor.reshape([...batch, pixels]);
        const field = engine.concat([flat(x), flat(y)], batch.length); //                         [..., 2hw]
        return field
          .cast(dtype)
          .matmul(operator)
          .reshape([...batch, h, w]);
      }),
  };
}

/**
 * The same by the discrete cosine transform, for grids whose matrix would be large.
 *
 * With C the DCT and D the differences along an axis, PᵀP = Cᵀ(λ_h ⊕ λ_w)C, so
 *
 *     z* = C_hᵀ [ ( C_h Γˣ S_w + S_hᵀ Γʸ C_wᵀ ) / (λ_h + λ_w) ] C_w,    S = D Cᵀ
 *
 * and the frequency (0, 0), the free constant, is set to 0.
 * Products with C_h from the left are done on transposed maps from the right: then each is one large matrix product over all fields.
 */
function transformSolver(engine: Engine, { h, w }: Grid, { dtype = "f32" }: { readonly dtype?: DType }): SurfaceSolver {
  const matrix = (values: Float64Array, n: number): Tensor => keep(engine.constant(values, { shape: [values.length / n, n], dtype }));
  const [basisH, basisW] = [cosineBasis(h), cosineBasis(w)];
  const slopesH = multiply(differenceMatrix(h), transpose(basisH, h), h);
  const slopesW = multiply(differenceMatrix(w), transpose(basisW, w), w);
  const columns = { slopes: matrix(slopesW, w), basis: matrix(basisW, w), basisTransposed: matrix(transpose(basisW, w), w) };
  const rows = { slopes: matrix(slopesH, h), basis: matrix(basisH, h), basisTransposed: matrix(transpose(basisH, h), h) };
  const inverse = Float64Array.from({ length: w * h }, (_, i) =>
    i === 0 ? 0 : 1 / (differenceEigenvalue(Math.floor(i / h), w) + differenceEigenvalue(i % h, h)),
  );
  const inverseEigenvalues = matrix(inverse, h); // [w, h]
  return {
    solve: ({ x, y }) =>
      engine.fullPrecision(() => {
        checkGrid(x, { h, w });
        checkGrid(y, { h, w });
        const fromX = swapLast(x.cast(dtype).matmul(columns.slopes)).matmul(rows.basisTransposed); //         (C_h Γˣ S_w)ᵀ
        const fromY = swapLast(y.cast(dtype).matmul(columns.basisTransposed)).matmul(rows.slopes); //         (S_hᵀ Γʸ C_wᵀ)ᵀ
        const spectrum = fromX.add(fromY).mul(inverseEigenvalues);
        return swapLast(spectrum.matmul(rows.basis)).matmul(columns.basis);
      }),
  };
}

/**
 * The paper's way: (PᵀP + ε I) z = PᵀΓ by a dense solve in every forward pass, for comparison. Its cost grows with the sixth power
 * of the grid's side, and ε biases the result: 1e-4 is the smallest value that is not lost to rounding in float32.
 * With `confidence` (VA-DepthNet's weights a, which enter squared) every field has a system of its own: Pᵀdiag(a²)P z = Pᵀdiag(a²)Γ.
 * torch only.
 */
export function denseSolver(
  engine: Engine,
  { h, w }: Grid,
  { dtype = "f32", epsilon = 1e-4 }: { readonly dtype?: DType; readonly epsilon?: number } = {},
): SurfaceSolver {
  const pixels = h * w;
  const operator = keep(engine.constant(differenceOperator(h, w), { shape: [2 * pixels, pixels], dtype }));
  const identity = Float64Array.from({ length: pixels * pixels }, (_, i) => (i % (pixels + 1) === 0 ? epsilon : 0));
  const ridge = keep(engine.constant(identity, { shape: [pixels, pixels], dtype }));
  return {
    solve: (gradientField, confidence) =>
      engine.fullPrecision(() => {
        checkGrid(gradientField.x, { h, w });
        const field = asColumn(gradientField, pixels, dtype); //                                       [..., 2hw, 1]
        const squared = confidence && asColumn(confidence, pixels, dtype).square();
        const weighted = squared ? operator.mul(squared) : operator; //                                 [..., 2hw, hw]
        const transposed = swapLast(weighted);
        const normal = transposed.matmul(operator).add(ridge);
        const batch = gradientField.x.shape.slice(0, -2); //                                            a system for every field, as VA-DepthNet's code
        const solution = normal.expand([...batch, pixels, pixels]).solve(transposed.matmul(field));
        return solution.reshape([...batch, h, w]);
      }),
  };
}

function asColumn({ x, y }: GradientField, pixels: number, dtype: DType): Tensor {
  const flat = (tensor: Tensor): Tensor => tensor.cast(dtype).reshape([...tensor.shape.slice(0, -2), pixels, 1]);
  return x.engine.concat([flat(x), flat(y)], -2);
}

function swapLast(tensor: Tensor): Tensor {
  const axes = tensor.shape.map((_, axis) => axis);
  return tensor.permute([...axes.slice(0, -2), axes.length - 1, axes.length - 2]);
}

function checkGrid(field: Tensor, { h, w }: Grid): void {
  const grid = field.shape.slice(-2);
  if (grid[0] !== h || grid[1] !== w) throw new ShapeError(`surface: the solver is for ${h}×${w}, Γ is ${formatShape(grid)}`);
}

function transpose(matrix: Float64Array, n: number): Float64Array {
  return matrix.map((_, i) => matrix[(i % n) * n + Math.floor(i / n)] as number);
}

function multiply(a: Float64Array, b: Float64Array, n: number): Float64Array {
  return a.map((_, index) => {
    const [row, column] = [Math.floor(index / n), index % n];
    let sum = 0;
    for (let k = 0; k < n; k++) sum += (a[row * n + k] as number) * (b[k * n + column] as number);
    return sum;
  });
}
