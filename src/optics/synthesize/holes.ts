import type { DepthMap } from "../../image/depthMap.ts";

/**
 * The depth used for pixels without one. `fill`: that of the nearest valid pixel. `blur`: 10 nm, as in HybridDepth, which adds 1e-8 to
 * holes of 0 m: they take on the colour of their surroundings and contribute almost nothing.
 */
export type HoleRule = "fill" | "blur";

/** 1 / depth of every pixel, holes included. */
export function inverseDepth(depth: DepthMap, holes: HoleRule): Float64Array {
  const nearest = holes === "fill" ? nearestValid(depth) : undefined;
  const dioptres = new Float64Array(depth.values.length);
  for (let i = 0; i < dioptres.length; i++) {
    const known = depth.valid[i] ? i : nearest?.[i];
    dioptres[i] = known === undefined ? 1e8 : 1 / (depth.values[known] as number);
  }
  return dioptres;
}

/** For each pixel the index of the nearest valid one, in steps across and down (breadth first). */
function nearestValid({ width, valid }: DepthMap): Int32Array {
  const nearest = new Int32Array(valid.length).fill(-1);
  const queue = new Int32Array(valid.length);
  let [head, tail] = [0, 0];
  const take = (pixel: number, from: number): void => {
    if ((nearest[pixel] as number) >= 0) return;
    nearest[pixel] = from;
    queue[tail++] = pixel;
  };
  for (let pixel = 0; pixel < valid.length; pixel++) if (valid[pixel]) take(pixel, pixel);
  while (head < tail) {
    const pixel = queue[head++] as number;
    const from = nearest[pixel] as number;
    if (pixel % width > 0) take(pixel - 1, from);
    if (pixel % width < width - 1) take(pixel + 1, from);
    if (pixel >= width) take(pixel - width, from);
    if (pixel + width < valid.length) take(pixel + width, from);
  }
  return nearest;
}
