/**
 * Solves H x = g for a symmetric positive definite H (row-major, upper half used) by Cholesky factorisation.
 * Undefined if H is singular.
 */
export function solveSymmetric(matrix: ArrayLike<number>, right: ArrayLike<number>): Float64Array | undefined {
  const n = right.length;
  const factor = new Float64Array(n * n); // L, lower
  const at = (row: number, column: number): number => factor[row * n + column] as number;
  for (let column = 0; column < n; column++)
    for (let row = column; row < n; row++) {
      let sum = matrix[column * n + row] as number;
      for (let k = 0; k < column; k++) sum -= at(row, k) * at(column, k);
      if (row > column) factor[row * n + column] = sum / at(column, column);
      else if (sum > 1e-10 * (matrix[column * n + column] as number)) factor[row * n + column] = Math.sqrt(sum);
      else return undefined;
    }
  const x = Float64Array.from(right);
  for (let row = 0; row < n; row++) {
    let sum = x[row] as number;
    for (let k = 0; k < row; k++) sum -= at(row, k) * (x[k] as number);
    x[row] = sum / at(row, row);
  }
  for (let row = n - 1; row >= 0; row--) {
    let sum = x[row] as number;
    for (let k = row + 1; k < n; k++) sum -= at(k, row) * (x[k] as number);
    x[row] = sum / at(row, row);
  }
  return x;
}
