/** Seconds since an arbitrary moment. */
export type Now = () => number;

export interface Timing {
  readonly median: number;
  /** 90th percentile. */
  readonly p90: number;
  readonly least: number;
}

/** Short runs are repeated for at least this long, so that one pause of the machine does not decide the median. */
const LEAST_SECONDS = 0.5;

/** Times `repeats` runs, or more if they are short, after `warmUps` that do not count. */
export async function timeRuns(
  run: () => Promise<unknown>,
  { repeats, warmUps = 1, now }: { readonly repeats: number; readonly warmUps?: number; readonly now: Now },
): Promise<Timing> {
  for (let i = 0; i < warmUps; i++) await run();
  const seconds: number[] = [];
  const begin = now();
  do {
    const start = now();
    await run();
    seconds.push(now() - start);
  } while (seconds.length < repeats || now() - begin < LEAST_SECONDS);
  return summarize(seconds);
}

export function summarize(seconds: readonly number[]): Timing {
  const sorted = [...seconds].sort((a, b) => a - b);
  const at = (rank: number): number => sorted[Math.min(Math.max(Math.ceil(rank), 1), sorted.length) - 1] ?? NaN;
  return { median: (at(sorted.length / 2) + at((sorted.length + 1) / 2)) / 2, p90: at(0.9 * sorted.length), least: at(1) };
}
