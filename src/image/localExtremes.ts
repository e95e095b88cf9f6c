import type { Plane } from "./boxFilter.ts";
import type { Size } from "./image.ts";
import { workspace } from "./simd/workspace.ts";

/** The greatest value of the square of side 2 · radius + 1 around each pixel. */
export function localMaximum({ values, ...size }: Plane, radius: number): Float32Array {
  const { put, view, scoped } = workspace();
  return scoped(() => view(maximumAround(put(values), size, radius), values.length).slice());
}

/** The least value of that square. */
export const localMinimum = ({ values, ...size }: Plane, radius: number): Float32Array =>
  negated(localMaximum({ ...size, values: negated(values) }, radius));

/** The greatest difference between two values of that square. */
export function localRange(plane: Plane, radius: number): Float32Array {
  const least = localMinimum(plane, radius);
  return localMaximum(plane, radius).map((greatest, i) => greatest - (least[i] as number));
}

/** `localMaximum` in the workspace, from address to address: along rows, then along columns. */
export function maximumAround(address: number, { width, height }: Size, radius: number): number {
  const { kernels, take, view } = workspace();
  const area = width * height;
  const [rows, out] = [take(area), take(area)];
  view(rows, area).set(view(address, area));
  for (let y = 0; y < height; y++) {
    const at = 4 * y * width;
    for (let reach = 1; reach <= Math.min(radius, width - 1); reach++) {
      kernels.maxInto(rows + at, address + at + 4 * reach, width - reach);
      kernels.maxInto(rows + at + 4 * reach, address + at, width - reach);
    }
  }
  view(out, area).set(view(rows, area));
  for (let reach = 1; reach <= Math.min(radius, height - 1); reach++) {
    kernels.maxInto(out, rows + 4 * reach * width, area - reach * width);
    kernels.maxInto(out + 4 * reach * width, rows, area - reach * width);
  }
  return out;
}

const negated = (values: Float32Array): Float32Array => values.map((value) => -value);
