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
