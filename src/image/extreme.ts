import type { Plane } from "./boxFilter.ts";

/** Least or greatest value (`choose` is Math.min or Math.max) of the 3×3 pixels around each. */
export function extreme({ width, height, values }: Plane, choose: (a: number, b: number) => number): Float32Array {
  const rows = new Float32Array(values.length);
  const out = new Float32Array(values.length);
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) {
      const [left, right] = [values[x > 0 ? i - 1 : i] as number, values[x < width - 1 ? i + 1 : i] as number];
      rows[i] = choose(choose(left, right), values[i] as number);
    }
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) {
      const [above, below] = [rows[y > 0 ? i - width : i] as number, rows[y < height - 1 ? i + width : i] as number];
      out[i] = choose(choose(above, below), rows[i] as number);
    }
  return out;
}
