/** Where the pixels of a larger map are between those of a smaller one, along an axis. */
export interface Between {
  /** Index of the pixel before each; the one after it is `next` away. */
  readonly lower: Uint32Array;
  /** Fraction of the way from the one to the other, 0 to 1. */
  readonly share: Float32Array;
  readonly next: 0 | 1;
}

/** For `count` pixels from `start` on, when `from` pixels become `to`; pixel centres are at half integers, the outer ones are repeated. */
export function between({ from, to, start = 0, count = to }: { from: number; to: number; start?: number; count?: number }): Between {
  const lower = new Uint32Array(count);
  const share = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const at = Math.min(Math.max(((start + i + 0.5) * from) / to - 0.5, 0), from - 1);
    lower[i] = Math.min(Math.floor(at), Math.max(from - 2, 0));
    share[i] = at - (lower[i] as number);
  }
  return { lower, share, next: from > 1 ? 1 : 0 };
}
