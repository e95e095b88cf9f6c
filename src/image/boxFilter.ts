import type { Size } from "./image.ts";
import { workspace } from "./simd/workspace.ts";

/** One value per pixel, row by row. */
export interface Plane extends Size {
  readonly values: Float32Array;
}

/** Mean over the square of side 2·radius + 1 around each pixel, without what is outside the image. */
export function boxMean({ width, height, values }: Plane, radius: number): Float32Array {
  if (!(Number.isInteger(radius) && radius >= 0)) throw new RangeError(`boxMean: the radius must be an integer ≥ 0, got ${radius}`);
  const { kernels, take, put, view, scoped } = workspace();
  return scoped(() => {
    const [from, to] = [put(values), take(values.length)];
    kernels.boxMean(to, from, width, height, radius, take(2 * width), take(width + 2 * radius + 8));
    return view(to, values.length).slice();
  });
}

/** Two box filters: close to a Gaussian, without side lobes. */
export const smooth = (plane: Plane, radius: number): Float32Array => boxMean({ ...plane, values: boxMean(plane, radius) }, radius);
