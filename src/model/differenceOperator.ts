/**
 * One axis of the difference operator P (eq. 3): forward differences, (D z)_i = z_{i+1} − z_i, with a zero row at the end so that
 * P maps a map to two maps of its own size. Row-major [n, n].
 *
 * P·1 = 0: a constant surface has no gradient, so PᵀP is singular by exactly that one direction (its rank is hw − 1). The gauge is
 * fixed by asking for the surface of zero mean.
 */
export function differenceMatrix(n: number): Float64Array {
  const matrix = new Float64Array(n * n);
  for (let i = 0; i + 1 < n; i++) {
    matrix[i * n + i] = -1;
    matrix[i * n + i + 1] = 1;
  }
  return matrix;
}

/** P ∈ {−1, 0, 1}^{2hw × hw}: all horizontal differences, then all vertical ones; pixels row by row. */
export function differenceOperator(h: number, w: number): Float64Array {
  const pixels = h * w;
  const matrix = new Float64Array(2 * pixels * pixels);
  for (let y = 0; y < h; y++)
    for (let x = 0; x < w; x++) {
      const i = y * w + x;
      if (x + 1 < w) {
        matrix[i * pixels + i] = -1;
        matrix[i * pixels + i + 1] = 1;
      }
      if (y + 1 < h) {
        matrix[(pixels + i) * pixels + i] = -1;
        matrix[(pixels + i) * pixels + i + w] = 1;
      }
    }
  return matrix;
}

/**
 * Orthonormal DCT-II, C_{k,i} = s_k cos(π k (i + ½) / n): it diagonalises DᵀD, C DᵀD Cᵀ = diag(2 − 2 cos(πk/n)).
 * Row-major [n, n], one frequency a row.
 */
export function cosineBasis(n: number): Float64Array {
  return Float64Array.from({ length: n * n }, (_, index) => {
    const [k, i] = [Math.floor(index / n), index % n];
    return Math.sqrt((k === 0 ? 1 : 2) / n) * Math.cos((Math.PI * k * (i + 0.5)) / n);
  });
}

/** Eigenvalues of DᵀD: 2 − 2 cos(πk/n), computed as 4 sin² to keep the small ones exact. */
export const differenceEigenvalue = (k: number, n: number): number => 4 * Math.sin((Math.PI * k) / (2 * n)) ** 2;

/**
 * The transpose of P's pseudo-inverse, (PᵀP)⁺Pᵀ: row-major [2hw, hw], so that Γ as a row of 2hw values (all of Γˣ, then all of Γʸ) times
 * it is z*. With C the DCT of each axis and λ the eigenvalues above, (PᵀP)⁺ = G:
 *
 *     G_{(i,j),(k,l)} = Σ_{(u,v) ≠ 0} C_{u,i} C_{u,k} C_{v,j} C_{v,l} / (λ_u + λ_v),    rows of the result: G_{r+1} − G_r
 *
 * Computed once for each size and shared by all networks: it must not be changed.
 */
export function surfaceOperator(h: number, w: number): Float64Array {
  const key = `${h}×${w}`;
  const known = operators.get(key) ?? computeSurfaceOperator(h, w);
  operators.set(key, known);
  return known;
}

const operators = new Map<string, Float64Array>();

function computeSurfaceOperator(h: number, w: number): Float64Array {
  const pixels = h * w;
  const green = greenFunction(h, w);
  const matrix = new Float64Array(2 * pixels * pixels);
  for (let r = 0; r < pixels; r++)
    for (let p = 0; p < pixels; p++) {
      const here = green[r * pixels + p] as number;
      if ((r % w) + 1 < w) matrix[r * pixels + p] = (green[(r + 1) * pixels + p] as number) - here;
      if (r + w < pixels) matrix[(pixels + r) * pixels + p] = (green[(r + w) * pixels + p] as number) - here;
    }
  return matrix;
}

/** G of `surfaceOperator`, [hw, hw]; summed over v first, as a matrix for every u. */
function greenFunction(h: number, w: number): Float64Array {
  const [rows, columns] = [cosineBasis(h), cosineBasis(w)];
  const green = new Float64Array((h * w) ** 2);
  for (let u = 0; u < h; u++)
    for (let j = 0; j < w; j++)
      for (let l = 0; l < w; l++) {
        let sum = 0;
        for (let v = u === 0 ? 1 : 0; v < w; v++)
          sum +=
            ((columns[v * w + j] as number) * (columns[v * w + l] as number)) / (differenceEigenvalue(u, h) + differenceEigenvalue(v, w));
        for (let i = 0; i < h; i++)
          for (let k = 0; k < h; k++) {
            const at = (i * w + j) * h * w + k * w + l;
            green[at] = (green[at] as number) + (rows[u * h + i] as number) * (rows[u * h + k] as number) * sum;
          }
      }
  return green;
}
