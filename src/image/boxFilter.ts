import type { Size } from "./image.ts";

/** One value per pixel, row by row. */
export interface Plane extends Size {
  readonly values: Float32Array;
}

/** Mean over the square of side 2·radius + 1 around each pixel, without what is outside the image. The time does not depend on the radius. */
export function boxMean({ width, height, values }: Plane, radius: number): Float32Array {
  if (!(Number.isInteger(radius) && radius >= 0)) throw new RangeError(`boxMean: the radius must be an integer ≥ 0, got ${radius}`);
  const means = new Float32Array(values.length);
  const columns = new Float64Array(width); // sums over the rows of the window
  for (let row = 0; row <= Math.min(radius, height - 1); row++) addRow(columns, values, row * width, 1);
  for (let y = 0; y < height; y++) {
    const rows = Math.min(y + radius, height - 1) - Math.max(y - radius, 0) + 1;
    let sum = 0;
    for (let x = 0; x <= Math.min(radius, width - 1); x++) sum += columns[x] as number;
    for (let x = 0; x < width; x++) {
      const count = Math.min(x + radius, width - 1) - Math.max(x - radius, 0) + 1;
      means[y * width + x] = sum / (count * rows);
      if (x + radius + 1 < width) sum += columns[x + radius + 1] as number;
      if (x - radius >= 0) sum -= columns[x - radius] as number;
    }
    if (y + radius + 1 < height) addRow(columns, values, (y + radius + 1) * width, 1);
    if (y - radius >= 0) addRow(columns, values, (y - radius) * width, -1);
  }
  return means;
}

function addRow(columns: Float64Array, values: Float32Array, start: number, sign: 1 | -1): void {
  for (let x = 0; x < columns.length; x++) columns[x] = (columns[x] as number) + sign * (values[start + x] as number);
}

/** Two box filters: close to a Gaussian, without side lobes. */
export const smooth = (plane: Plane, radius: number): Float32Array => boxMean({ ...plane, values: boxMean(plane, radius) }, radius);
