import type { Size } from "./image.ts";

/** Interleaved floats of an image or map. */
interface Raster extends Size {
  readonly channels: number;
  readonly data: Float32Array;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** `linear` is torchvision's antialiased bilinear, `lanczos` Pillow's (radius 3). Both widen with the reduction, against aliasing. */
const FILTERS = {
  linear: { radius: 1, at: (x: number) => Math.max(0, 1 - Math.abs(x)) },
  lanczos: { radius: 3, at: (x: number) => (Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0) },
} as const;

type Filter = keyof typeof FILTERS;

/** Resamples to `width` × `height`, pixel centres at half integers, one axis after the other. */
export function resize<T extends Raster>(raster: T, { width, height, filter }: Size & { filter: Filter }): T {
  const across = resampleRows(raster, { width, filter });
  const turned = transposeRaster(resampleRows(transposeRaster(across), { width: height, filter }));
  return { ...raster, width, height, data: turned.data };
}

/** The value of the pixel that contains each new pixel's centre: for depth, which must not be mixed across edges. */
export function resizeNearest<T extends ArrayLike<number> & { [index: number]: number }>(
  { width, height, data }: Size & { data: T },
  target: Size & { into: T },
): T {
  for (let y = 0; y < target.height; y++) {
    const row = Math.floor(((y + 0.5) * height) / target.height) * width;
    for (let x = 0; x < target.width; x++)
      target.into[y * target.width + x] = data[row + Math.floor(((x + 0.5) * width) / target.width)] as number;
  }
  return target.into;
}

function resampleRows(raster: Raster, { width, filter }: { width: number; filter: Filter }): Raster {
  const { height, channels, data } = raster;
  if (width === raster.width) return raster;
  const taps = filterTaps({ from: raster.width, to: width, filter });
  const out = new Float32Array(width * height * channels);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const { first, weights } = taps[x] as Taps;
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        for (let i = 0; i < weights.length; i++)
          sum += (weights[i] as number) * (data[(y * raster.width + first + i) * channels + c] as number);
        out[(y * width + x) * channels + c] = sum;
      }
    }
  return { width, height, channels, data: out };
}

interface Taps {
  readonly first: number;
  readonly weights: Float64Array;
}

/** For each new sample, the old samples under the filter and their weights, which sum to 1. */
function filterTaps({ from, to, filter }: { from: number; to: number; filter: Filter }): Taps[] {
  const { radius, at } = FILTERS[filter];
  const ratio = from / to;
  const stretch = Math.max(ratio, 1);
  return Array.from({ length: to }, (_, i) => {
    const centre = (i + 0.5) * ratio;
    const first = Math.max(0, Math.floor(centre - radius * stretch + 0.5));
    const end = Math.min(from, Math.floor(centre + radius * stretch + 0.5));
    const weights = Float64Array.from({ length: end - first }, (_, tap) => at((first + tap + 0.5 - centre) / stretch));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return { first, weights: weights.map((weight) => weight / sum) };
  });
}

function transposeRaster({ width, height, channels, data }: Raster): Raster {
  const out = new Float32Array(data.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < channels; c++) out[(x * height + y) * channels + c] = data[(y * width + x) * channels + c] as number;
  return { width: height, height: width, channels, data: out };
}
