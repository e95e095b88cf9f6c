/**
 * A disk, antialiased by the covered area of each pixel and summing to 1, stored as the steps along each row: most of a row is
 * constant, so that row sums and differences need only the few columns where the value changes.
 */
export interface DiskKernel {
  /** Reach in pixels: rows run from -half to +half. */
  readonly half: number;
  /** The steps of row dy are `from[dy + half]` to `from[dy + half + 1]`, exclusive. */
  readonly from: Uint32Array;
  /** Step i: at column `column[i]` the value rises by `rise[i]` over the column before. The rises of a row sum to 0. */
  readonly column: Int32Array;
  readonly rise: Float64Array;
}

/** Sub-pixel rows over which the covered area is summed; along a row the overlap is exact. */
const SUBROWS = 16;

export function diskKernel(radius: number): DiskKernel {
  if (!(Number.isFinite(radius) && radius >= 0)) throw new RangeError(`diskKernel: the radius must be a finite number ≥ 0, got ${radius}`);
  const reach = Math.max(radius, 0.5); // a smaller disk lies within one pixel
  const half = Math.ceil(reach - 0.5);
  const side = 2 * half + 1;
  const coverage = new Float64Array(side * side);
  for (let dy = -half; dy <= half; dy++) {
    for (let sub = 0; sub < SUBROWS; sub++) {
      const height = dy + (sub + 0.5) / SUBROWS - 0.5;
      if (Math.abs(height) >= reach) continue;
      const halfChord = Math.sqrt(reach ** 2 - height ** 2);
      for (let dx = -half; dx <= half; dx++) {
        const overlap = Math.min(dx + 0.5, halfChord) - Math.max(dx - 0.5, -halfChord);
        const at = (dy + half) * side + dx + half;
        if (overlap > 0) coverage[at] = (coverage[at] as number) + overlap;
      }
    }
  }
  return steps(coverage, half);
}

function steps(coverage: Float64Array, half: number): DiskKernel {
  const side = 2 * half + 1;
  const total = coverage.reduce((sum, value) => sum + value, 0);
  const [from, column, rise] = [[0], [] as number[], [] as number[]];
  for (let row = 0; row < side; row++) {
    let previous = 0;
    for (let dx = 0; dx <= side; dx++) {
      const value = dx < side ? (coverage[row * side + dx] as number) / total : 0;
      if (value === previous) continue;
      column.push(dx - half);
      rise.push(value - previous);
      previous = value;
    }
    from.push(column.length);
  }
  return { half, from: Uint32Array.from(from), column: Int32Array.from(column), rise: Float64Array.from(rise) };
}
