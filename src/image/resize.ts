import type { Size } from "./image.ts";
import { keptRows, workspace } from "./simd/workspace.ts";

/** Interleaved floats of an image or map. */
interface Raster extends Size {
  readonly channels: number;
  readonly data: Float32Array;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** Lanczos' kernel of radius 3. */
export const lanczos = (x: number): number => (Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0);

/** `linear` is torchvision's antialiased bilinear, `lanczos` Pillow's (radius 3). Both widen with the reduction, against aliasing. */
const FILTERS = {
  linear: { radius: 1, at: (x: number) => Math.max(0, 1 - Math.abs(x)) },
  lanczos: { radius: 3, at: lanczos },
} as const;

type Filter = keyof typeof FILTERS;

/** Resamples to `width` × `height`, pixel centres at half integers, along rows and then along columns. */
export function resize<T extends Raster>(raster: T, { width, height, filter }: Size & { filter: Filter }): T {
  const { kernels, take, view, scoped } = workspace();
  const samples = width * raster.channels;
  const data = new Float32Array(samples * height);
  const down = filterTaps({ from: raster.height, to: height, filter });
  scoped(() => {
    const rowAt = filteredRows(raster, { width, filter, kept: down.most });
    const out = take(samples);
    for (let y = 0; y < height; y++) {
      view(out, samples).fill(0);
      const first = down.first[y] as number;
      for (let tap = 0; tap < (down.taps[y] as number); tap++)
        kernels.addScaled(out, rowAt(first + tap), samples, down.weights[y * down.most + tap] as number);
      data.set(view(out, samples), y * samples);
    }
  });
  return { ...raster, width, height, data };
}

/** Addresses of rows resampled to `width`, each when it is first needed; the last `kept` are kept. */
function filteredRows(
  { width: from, channels, data }: Raster,
  { width, filter, kept }: { readonly width: number; readonly filter: Filter; readonly kept: number },
): (y: number) => number {
  const { kernels, take, put, view } = workspace();
  const across = filterTaps({ from, to: width, filter });
  const [first, taps, weights] = [put(across.first), put(across.taps), put(across.weights)];
  const source = take(from * channels);
  return keptRows({ kept, samples: width * channels }, (y, address) => {
    view(source, from * channels).set(data.subarray(y * from * channels, (y + 1) * from * channels));
    kernels.filterRow(address, source, first, taps, weights, across.most, width, channels);
  });
}

/** For each new sample, the first old sample under the filter, how many there are, and their weights, which sum to 1. */
interface Taps {
  readonly first: Uint32Array;
  readonly taps: Uint32Array;
  /** [samples, most]. */
  readonly weights: Float32Array;
  readonly most: number;
}

function filterTaps({ from, to, filter }: { from: number; to: number; filter: Filter }): Taps {
  const { radius, at } = FILTERS[filter];
  const ratio = from / to;
  if (ratio === 1) return { first: Uint32Array.from({ length: to }, (_, i) => i), taps: new Uint32Array(to).fill(1), weights: new Float32Array(to).fill(1), most: 1 }; // prettier-ignore
  const stretch = Math.max(ratio, 1);
  const most = Math.ceil(2 * radius * stretch) + 1;
  const [first, taps, weights] = [new Uint32Array(to), new Uint32Array(to), new Float32Array(to * most)];
  for (let i = 0; i < to; i++) {
    const centre = (i + 0.5) * ratio;
    const start = Math.max(0, Math.floor(centre - radius * stretch + 0.5));
    const end = Math.min(from, Math.floor(centre + radius * stretch + 0.5));
    const values = Array.from({ length: end - start }, (_, tap) => at((start + tap + 0.5 - centre) / stretch));
    const sum = values.reduce((total, weight) => total + weight, 0);
    [first[i], taps[i]] = [start, end - start];
    weights.set(values.map((weight) => weight / sum), i * most); // prettier-ignore
  }
  return { first, taps, weights, most };
}
