/** Values that a quantile is taken of: more would change it by little. */
const ENOUGH = 40_000;

/** The value below which this share of the values lies; of many values, every few are compared. */
export function quantile(values: Float32Array, share: number): number {
  const stride = Math.ceil(values.length / ENOUGH);
  const some = new Float32Array(Math.ceil(values.length / stride));
  for (let i = 0; i < some.length; i++) some[i] = values[i * stride] as number;
  return nthSmallest(some, Math.floor(share * (some.length - 1)));
}

/** The value that would be at index n if the values were sorted; reorders them (Hoare 1961). */
export function nthSmallest(values: Float32Array, n: number): number {
  let [from, to] = [0, values.length - 1];
  while (from < to) {
    const pivot = values[(from + to) >> 1] as number;
    let [i, j] = [from, to];
    while (i <= j) {
      while ((values[i] as number) < pivot) i++;
      while ((values[j] as number) > pivot) j--;
      if (i > j) break;
      const swapped = values[i] as number;
      values[i++] = values[j] as number;
      values[j--] = swapped;
    }
    if (n <= j) to = j;
    else if (n >= i) from = i;
    else break;
  }
  return values[n] as number;
}
