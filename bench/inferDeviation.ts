/** How far depths, in planes, are from those of f32. */
export interface Deviation {
  readonly mean: number;
  readonly p99: number;
  readonly p999: number;
  readonly largest: number;
}

/** What is called equal to f32: one hundredth of a plane at every pixel. */
const MOST = 0.01;

const rounded = (value: number): number => Number(value.toPrecision(4));

export function deviation(depth: Float32Array, exact: Float32Array): Deviation {
  const distances = depth.map((value, i) => Math.abs(value - (exact[i] as number))).sort();
  const at = (share: number): number => rounded(distances[Math.min(distances.length - 1, Math.floor(share * distances.length))] as number);
  const mean = rounded(distances.reduce((sum, value) => sum + value, 0) / distances.length);
  return { mean, p99: at(0.99), p999: at(0.999), largest: at(1) };
}

export interface DeviationRow {
  readonly model: string;
  readonly trained: boolean;
  /** One for each precision, or why there is none. */
  readonly arranged: readonly ({ readonly precision: string; readonly planesFromF32: Deviation } | { readonly failed: string })[];
}

/** Where shipped weights of `fine` or `small` do not give in f16 what they give in f32. A precision that failed counts. */
export function deviationFaults(rows: readonly DeviationRow[]): string[] {
  return rows
    .filter(({ model, trained }) => trained && (model === "fine" || model === "small"))
    .flatMap(({ model, arranged }) =>
      arranged.flatMap((each) => {
        if ("failed" in each) return [`${model}: ${each.failed}`];
        const { largest } = each.planesFromF32;
        return each.precision !== "f16" || largest <= MOST ? [] : [`${model}: f16 is up to ${largest} planes from f32, more than ${MOST}`];
      }),
    );
}
