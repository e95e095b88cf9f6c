/**
 * How far the depth is off where the network hesitates by so much: `error[i]` planes at a spread of `spread[i]` planes, linear between,
 * and in proportion beyond the last. Of pixels given ±e, 68 % lie within e. docs/confidence.md tells how it was measured and on what.
 */
export interface ErrorTable {
  readonly spread: readonly number[];
  readonly error: readonly number[];
}

/** Of the shipped weights; `scripts/calibrate.ts` prints these lines. */
export const ERROR_TABLES = {
  small: { spread: [0.5, 0.6, 0.7, 0.8, 1, 1.25, 1.75, 2.5], error: [0.18, 0.18, 0.18, 0.32, 0.5, 2.4, 3.4, 3.4] },
  base: { spread: [0.5, 0.6, 0.7, 0.8, 1, 1.25, 1.75, 2.5], error: [0.15, 0.15, 0.17, 0.26, 0.43, 1.3, 3, 3.4] },
} as const satisfies Record<string, ErrorTable>;

/** Planes of error at a spread of so many planes. */
export function expectedError({ spread, error }: ErrorTable, at: number): number {
  const last = spread.length - 1;
  if (at <= (spread[0] as number)) return error[0] as number;
  if (at >= (spread[last] as number)) return ((error[last] as number) * at) / (spread[last] as number);
  const next = spread.findIndex((knot) => knot > at);
  const [from, to] = [spread[next - 1] as number, spread[next] as number];
  const share = (at - from) / (to - from);
  return (error[next - 1] as number) * (1 - share) + (error[next] as number) * share;
}
