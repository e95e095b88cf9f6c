/** One measured time: the value that was varied, and a group in which everything else is the same. */
export interface Point {
  readonly x: number;
  readonly seconds: number;
  /** Points are compared only with those of their group. */
  readonly group: string;
}

/**
 * How time grows: k in seconds ∝ xᵏ, by least squares in the logarithms with one constant per group:
 *
 *     k = Σ (ln x − mean) (ln s − mean) / Σ (ln x − mean)²,   means over the group
 *
 * Undefined if x does not vary within any group.
 */
export function growthExponent(points: readonly Point[]): number | undefined {
  const groups = new Map<string, Point[]>();
  for (const point of points) groups.set(point.group, [...(groups.get(point.group) ?? []), point]);
  let [products, squares] = [0, 0];
  for (const group of groups.values()) {
    const mean = (of: (point: Point) => number): number => group.reduce((sum, point) => sum + Math.log(of(point)), 0) / group.length;
    const [meanX, meanSeconds] = [mean(({ x }) => x), mean(({ seconds }) => seconds)];
    for (const { x, seconds } of group) {
      products += (Math.log(x) - meanX) * (Math.log(seconds) - meanSeconds);
      squares += (Math.log(x) - meanX) ** 2;
    }
  }
  return squares === 0 ? undefined : products / squares;
}
