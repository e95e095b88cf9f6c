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

/** Rows of the larger map before their own interpolation; each call overwrites the result of the previous one. */
export function rowsBetween(
  { width, values }: { readonly width: number; readonly values: Float32Array },
  { lower, share, next }: Between,
): (y: number, first?: number) => Float32Array {
  const row = new Float32Array(width);
  return (y, first = 0) => {
    const upper = first + (lower[y] as number) * width;
    const [below, part] = [upper + next * width, share[y] as number];
    for (let x = 0; x < width; x++) row[x] = (values[upper + x] as number) * (1 - part) + (values[below + x] as number) * part;
    return row;
  };
}
