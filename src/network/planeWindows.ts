/** Planes of one run of the network: indices into the stack, near to far. */
export type PlaneWindow = readonly number[];

export interface PlaneWindows {
  /** Over the whole stack; undefined where one run holds every plane. */
  readonly sparse: PlaneWindow | undefined;
  readonly dense: readonly PlaneWindow[];
}

/**
 * Runs of at most `most` planes that together hold every plane. One run where the stack is short enough. Otherwise first a sparse
 * one over the whole stack, which finds roughly where each pixel is in focus, then dense ones that overlap by half.
 */
export function planeWindows(planes: number, most: number): PlaneWindows {
  if (!(most >= 4)) throw new RangeError(`planeWindows: windows of ${most} planes are too short to overlap`);
  const all = Array.from({ length: planes }, (_, n) => n);
  if (planes <= most) return { sparse: undefined, dense: [all] };
  const sparse = Array.from({ length: most }, (_, i) => Math.round((i * (planes - 1)) / (most - 1)));
  const count = Math.ceil((planes - most) / (most >> 1)) + 1;
  const dense = Array.from({ length: count }, (_, i) => {
    const first = Math.round((i * (planes - most)) / (count - 1));
    return all.slice(first, first + most);
  });
  return { sparse, dense };
}

/**
 * How much each dense window counts at a pixel whose focus lies at plane `at`: falls linearly from its middle to its ends (the first
 * and last window reach beyond them); the weights of all windows sum to 1.
 */
export function windowWeights(windows: readonly PlaneWindow[], at: number): number[] {
  const raw = windows.map((window, i) => {
    const [first, last] = [window[0] as number, window.at(-1) as number];
    const middle = (first + last) / 2;
    if ((i === 0 && at <= middle) || (i === windows.length - 1 && at >= middle)) return 1;
    return Math.max(0, 1 - Math.abs(at - middle) / ((last - first) / 2));
  });
  const sum = raw.reduce((total, weight) => total + weight, 0);
  return raw.map((weight) => weight / sum);
}
