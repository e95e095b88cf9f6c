import type { Image } from "../../image/image.ts";

/** `exponent` 2 is a Gaussian, a large one a disk; the kernel is cut to a square of side `window`, in pixels. */
export interface GatherKernel {
  readonly exponent: number;
  readonly window: number;
}

/** Offsets of one window, row by row, each with the index of its radius in `radii`. */
interface Window {
  readonly half: number;
  /** Distinct radii to the power `exponent`. */
  readonly radii: Float64Array;
  /** For offset (dy, dx): an index into `radii`. */
  readonly radiusOf: Uint8Array;
}

function gatherWindow({ exponent, window }: GatherKernel): Window {
  if (!(Number.isInteger(window) && window % 2 === 1 && window <= 31))
    throw new RangeError(`gatherBlur: the window must be an odd whole number up to 31, got ${window}`);
  if (!(exponent > 0)) throw new RangeError(`gatherBlur: the exponent must be positive, got ${exponent}`);
  const half = (window - 1) / 2;
  const squares = Array.from({ length: window ** 2 }, (_, i) => (Math.floor(i / window) - half) ** 2 + ((i % window) - half) ** 2);
  const distinct = [...new Set(squares)].sort((a, b) => a - b);
  return {
    half,
    radii: Float64Array.from(distinct, (square) => square ** (exponent / 2)),
    radiusOf: Uint8Array.from(squares, (square) => distinct.indexOf(square)),
  };
}

/**
 * The blur of HybridDepth (Gaussian, 7×7) and FOSSA (power-exponential, 15×15): every blurred pixel gathers its neighbours q, each
 * weighted by its own kernel, with c the radius of the circle of confusion in pixels:
 *
 *     out_p = Σ_q g_q I_q / Σ_q g_q,   g_q = c_q⁻² exp(-2 (r_pq / c_q)^exponent),   only q with c_q > 1
 *
 * A pixel with c ≤ 1 is copied. There is no occlusion, and a large blur is cut to the window, as in the published stacks. Written as a
 * scatter from each q, so that its weights, one per distinct distance, are computed once.
 */
export function gatherBlur({ image, blurRadius }: { image: Image; blurRadius: Float32Array }, kernel: GatherKernel): Image {
  const { width, height, channels, data } = image;
  if (blurRadius.length !== width * height)
    throw new RangeError(`gatherBlur: ${width}×${height} needs ${width * height} blur radii, got ${blurRadius.length}`);
  const window = gatherWindow(kernel);
  const sums = new Float64Array(width * height * (channels + 1)); // per pixel the weighted channels, then the weight
  const weights = new Float64Array(window.radii.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const c = blurRadius[y * width + x] as number;
      if (!(c > 1)) continue;
      kernelWeights(c, { exponent: kernel.exponent, radii: window.radii }, weights);
      scatter(image, { sums, weights, window, blurRadius, x, y });
    }
  }
  const blurred = new Float32Array(data);
  for (let pixel = 0; pixel < width * height; pixel++) {
    if (!((blurRadius[pixel] as number) > 1)) continue;
    const at = pixel * (channels + 1);
    const weight = sums[at + channels] as number;
    for (let channel = 0; channel < channels; channel++) blurred[pixel * channels + channel] = (sums[at + channel] as number) / weight;
  }
  return { width, height, channels, data: blurred };
}

/** c⁻² exp(-2 (r / c)^exponent) for each distinct radius, into `weights`. */
function kernelWeights(c: number, { exponent, radii }: { exponent: number; radii: Float64Array }, weights: Float64Array): void {
  const steepness = exponent === 2 ? 2 / (c * c) : 2 * c ** -exponent;
  for (let i = 0; i < radii.length; i++) weights[i] = Math.exp(-steepness * (radii[i] as number)) / (c * c);
}

interface Scatter {
  readonly sums: Float64Array;
  readonly weights: Float64Array;
  readonly window: Window;
  readonly blurRadius: Float32Array;
  readonly x: number;
  readonly y: number;
}

/** Adds the pixel (x, y), weighted, to every blurred pixel of its window. */
function scatter({ width, height, channels, data }: Image, { sums, weights, window, blurRadius, x, y }: Scatter): void {
  const { half, radiusOf } = window;
  const source = (y * width + x) * channels;
  const first = data[source] as number;
  const second = channels === 3 ? (data[source + 1] as number) : 0;
  const third = channels === 3 ? (data[source + 2] as number) : 0;
  const [left, right] = [Math.max(x - half, 0), Math.min(x + half, width - 1)];
  const bottom = Math.min(y + half, height - 1);
  for (let row = Math.max(y - half, 0); row <= bottom; row++) {
    let offset = (row - y + half) * (2 * half + 1) + left - x + half;
    for (let pixel = row * width + left; pixel <= row * width + right; pixel++, offset++) {
      if (!((blurRadius[pixel] as number) > 1)) continue;
      const weight = weights[radiusOf[offset] as number] as number;
      const at = pixel * (channels + 1);
      sums[at] = (sums[at] as number) + weight * first;
      if (channels === 3) {
        sums[at + 1] = (sums[at + 1] as number) + weight * second;
        sums[at + 2] = (sums[at + 2] as number) + weight * third;
        sums[at + 3] = (sums[at + 3] as number) + weight;
      } else sums[at + 1] = (sums[at + 1] as number) + weight;
    }
  }
}
