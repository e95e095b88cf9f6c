import type { Plane } from "./boxFilter.ts";

/** The greatest difference between two values of the square of side 2 · radius + 1 around each pixel. */
export function localRange(plane: Plane, radius: number): Float32Array {
  const least = localMinimum(plane, radius);
  return localExtreme(plane, radius, Math.max).map((greatest, i) => greatest - (least[i] as number));
}

/** The least value of that square. */
export const localMinimum = (plane: Plane, radius: number): Float32Array => localExtreme(plane, radius, Math.min);

/** The least or greatest value (`choose` is Math.min or Math.max) of that square. */
function localExtreme({ width, height, values }: Plane, radius: number, choose: typeof Math.min): Float32Array {
  let out = values;
  for (let step = 0; step < radius; step++) out = ofNeighbours({ width, height, values: out }, choose);
  return out;
}

/** Over the 3×3 pixels around each. */
function ofNeighbours({ width, height, values }: Plane, choose: typeof Math.min): Float32Array {
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
