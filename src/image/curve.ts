import { workspace } from "./simd/workspace.ts";

/** Levels at increasing places: linear between them, constant outside. */
export interface Curve {
  readonly at: readonly number[];
  readonly levels: readonly number[];
}

/** Pixels at a time, so that they stay in the processor's cache. */
const PART = 16_384;

/** At each pixel the sum of the maps, each as its curve gives it. */
export function curveSums(maps: readonly { readonly values: Float32Array; readonly curve: Curve }[]): Float32Array {
  const { kernels, take, put, view, scoped } = workspace();
  const sums = new Float32Array(maps[0]?.values.length ?? 0);
  scoped(() => {
    const curves = maps.map(({ values, curve: { at, levels } }) => {
      const slopes = levels.slice(1).map((level, k) => (level - (levels[k] as number)) / ((at[k + 1] as number) - (at[k] as number)));
      const ends = [levels[0] as number, levels.at(-1) as number] as const;
      return { values, knots: [put(Float32Array.from(at)), put(Float32Array.from(slopes)), at.length, ...ends] as const };
    });
    const [own, room] = [take(PART), take(PART)];
    for (let start = 0; start < sums.length; start += PART) {
      const count = Math.min(PART, sums.length - start);
      view(own, count).fill(0);
      for (const { values, knots } of curves) {
        view(room, count).set(values.subarray(start, start + count));
        kernels.addCurve(own, room, count, ...knots);
      }
      sums.set(view(own, count), start);
    }
  });
  return sums;
}
