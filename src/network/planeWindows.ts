/** Planes of one run of the network: indices into the stack, near to far. */
export type PlaneWindow = readonly number[];

export interface PlaneWindows {
  /** Over the whole stack; undefined where one run holds every plane. */
  readonly sparse: PlaneWindow | undefined;
  readonly dense: readonly PlaneWindow[];
}

/** Fewer planes would not overlap by half. */
export const SHORTEST_WINDOW = 4;

/**
 * Runs of at most `most` planes that together hold every plane. One run where the stack is short enough. Otherwise first a sparse
 * one over the whole stack, which finds roughly where each pixel is in focus, then dense ones that overlap by half.
 */
export function planeWindows(planes: number, most: number): PlaneWindows {
  if (!(most >= SHORTEST_WINDOW)) throw new RangeError(`planeWindows: windows of ${most} planes are too short to overlap`);
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
 * How much dense window `i` counts at a pixel whose focus lies at plane `at`: falls linearly from its middle to its ends (the first and last
 * window reach beyond them); the weights of all windows sum to 1. Called for every pixel: it makes no arrays.
 */
export function windowWeight(windows: readonly PlaneWindow[], i: number, at: number): number {
  let sum = 0;
  for (let k = 0; k < windows.length; k++) sum += rawWeight(windows, k, at);
  return rawWeight(windows, i, at) / sum;
}

function rawWeight(windows: readonly PlaneWindow[], i: number, at: number): number {
  const window = windows[i] as PlaneWindow;
  const first = window[0] as number;
  const last = window[window.length - 1] as number;
  const middle = (first + last) / 2;
  if ((i === 0 && at <= middle) || (i === windows.length - 1 && at >= middle)) return 1;
  return Math.max(0, 1 - Math.abs(at - middle) / ((last - first) / 2));
}
