import type { Image } from "../../image/image.ts";
import { type DiskKernel, diskKernel } from "./disk.ts";
import { hiddenSurface, OCCLUSION_GAP } from "./hidden.ts";

/** Layers are `step` pixels apart in blur radius, but there are at most `most`. */
export const LAYERING = { step: 0.5, most: 64, occlusionGap: OCCLUSION_GAP } as const;

/** A smaller coverage is only rounding. */
const NO_COVERAGE = 1e-9;

/** Samples of one layer: `pixel` shows the colour of `source` (itself where visible, a neighbour where the surface is hidden). */
interface Layer {
  readonly pixels: Int32Array;
  readonly sources: Int32Array;
  readonly kernel: DiskKernel;
}

/**
 * Disk blur with occlusion. `signedRadius` is each pixel's blur radius in pixels, positive where nearer than the focus.
 *
 * 1. The image is cut into layers of nearly equal blur. Behind depth edges the farther surface is continued (`hiddenSurface`).
 * 2. Each layer is blurred by its own disk, both colour and coverage α_k, so that no nearer or farther colour mixes into it.
 * 3. Layers are composited front to back. B_k, the coverage of layer k and all nearer layers together, is the mask of their pixels,
 *    blurred by layer k's disk. The weight of layer k is what this adds to the coverage C so far, at most its own coverage:
 *
 *        w_k = min(B_k - C, α_k),   C ← C + w_k,   out = Σ w_k colour_k / Σ w_k
 *
 * Neighbouring slices of a slanted surface cover different parts of the lens, so their coverages add up; multiplying transparencies
 * (1 - α), the usual compositing, would let the background show through every seam.
 */
export function layeredBlur({ image, signedRadius }: { image: Image; signedRadius: Float32Array }): Image {
  const { width, height, channels } = image;
  if (signedRadius.length !== width * height)
    throw new RangeError(`layeredBlur: ${width}×${height} needs ${width * height} blur radii, got ${signedRadius.length}`);
  const canvas = {
    colour: new Float64Array(image.data.length),
    covered: new Float64Array(width * height),
    mask: new Uint8Array(width * height),
  };
  const sums = new Float64Array(width * height * (channels + 1));
  for (const layer of sliceLayers(signedRadius, width)) {
    layer.pixels.forEach((pixel, i) => {
      if (layer.sources[i] === pixel) canvas.mask[pixel] = 1;
    });
    const rows = spread(image, layer, sums);
    lay({ width, channels, rows, kernel: layer.kernel, sums }, canvas);
  }
  const data = Float32Array.from(canvas.colour, (value, i) => value / (canvas.covered[Math.floor(i / channels)] as number));
  return { width, height, channels, data };
}

/** Near to far. */
function sliceLayers(signedRadius: Float32Array, width: number): Layer[] {
  let [least, most] = [Infinity, -Infinity];
  for (const radius of signedRadius) {
    least = Math.min(least, radius);
    most = Math.max(most, radius);
  }
  const count = Math.min(LAYERING.most, Math.max(1, Math.ceil((most - least) / LAYERING.step)));
  const layerOf = Uint8Array.from(signedRadius, (radius) =>
    most > least ? Math.min(count - 1, Math.floor(((radius - least) / (most - least)) * count)) : 0,
  );
  const members = Array.from({ length: count }, () => ({ pixels: [] as number[], sources: [] as number[], sum: 0 }));
  const hidden = hiddenSurface({ width, signedRadius });
  for (let pixel = 0; pixel < signedRadius.length; pixel++) {
    const [own, behind] = [layerOf[pixel] as number, hidden[pixel] as number];
    add(pixel, pixel);
    if (behind >= 0 && layerOf[behind] !== own) add(pixel, behind);
  }
  function add(pixel: number, source: number): void {
    const layer = members[layerOf[source] as number];
    layer?.pixels.push(pixel);
    layer?.sources.push(source);
    if (layer) layer.sum += signedRadius[source] as number;
  }
  return members
    .reverse()
    .filter(({ pixels }) => pixels.length > 0)
    .map(({ pixels, sources, sum }) => ({
      pixels: Int32Array.from(pixels),
      sources: Int32Array.from(sources),
      kernel: diskKernel(Math.abs(sum / pixels.length)),
    }));
}

interface Rows {
  readonly first: number;
  readonly last: number;
}

/** Blurs one layer into `sums` (per pixel: weighted channels, then coverage), touching only the rows it reports. */
function spread({ width, height, channels, data }: Image, { pixels, sources, kernel }: Layer, sums: Float64Array): Rows {
  const stride = channels + 1;
  const first = Math.max(0, Math.floor((pixels[0] as number) / width) - kernel.half);
  const last = Math.min(height - 1, Math.floor((pixels.at(-1) as number) / width) + kernel.half);
  sums.fill(0, first * width * stride, (last + 1) * width * stride);
  for (let i = 0; i < pixels.length; i++) {
    const x = (pixels[i] as number) % width;
    const y = ((pixels[i] as number) - x) / width;
    const source = (sources[i] as number) * channels;
    const top = Math.max(y - kernel.half, 0);
    const bottom = Math.min(y + kernel.half, height - 1);
    for (let row = top; row <= bottom; row++) {
      const end = kernel.from[row - y + kernel.half + 1] as number;
      for (let step = kernel.from[row - y + kernel.half] as number; step < end; step++) {
        const column = Math.max(x + (kernel.column[step] as number), 0); // a step left of the image takes effect at column 0
        if (column >= width) break;
        const rise = kernel.rise[step] as number;
        const at = (row * width + column) * stride;
        for (let c = 0; c < channels; c++) sums[at + c] = (sums[at + c] as number) + rise * (data[source + c] as number);
        sums[at + channels] = (sums[at + channels] as number) + rise;
      }
    }
  }
  for (let row = first; row <= last; row++)
    for (let at = row * width * stride + stride; at < (row + 1) * width * stride; at++)
      sums[at] = (sums[at] as number) + (sums[at - stride] as number);
  return { first, last };
}

interface BlurredLayer {
  readonly width: number;
  readonly channels: number;
  readonly rows: Rows;
  readonly kernel: DiskKernel;
  readonly sums: Float64Array;
}

interface Canvas {
  /** Σ w_k colour_k and C = Σ w_k of the layers so far. */
  readonly colour: Float64Array;
  readonly covered: Float64Array;
  /** 1 where the visible surface belongs to the current layer or a nearer one. */
  readonly mask: Uint8Array;
}

function lay({ width, channels, rows, kernel, sums }: BlurredLayer, { colour, covered, mask }: Canvas): void {
  const stride = channels + 1;
  const height = mask.length / width;
  const before = setBefore(mask, width);
  for (let row = rows.first; row <= rows.last; row++) {
    const rowInside = row >= kernel.half && row + kernel.half < height;
    for (let x = 0; x < width; x++) {
      const pixel = row * width + x;
      const alpha = sums[pixel * stride + channels] as number;
      const already = covered[pixel] as number;
      if (alpha < NO_COVERAGE || already > 1 - NO_COVERAGE) continue;
      const place = { width, height, kernel, x, y: row };
      const inside = rowInside && x >= kernel.half && x + kernel.half < width;
      const area = inside ? 1 : blurredMask(undefined, place); // share of the disk within the image
      const weight = Math.min(blurredMask(before, place) / area - already, alpha / area);
      if (weight <= 0) continue;
      covered[pixel] = already + weight;
      for (let c = 0; c < channels; c++) {
        const at = pixel * channels + c;
        colour[at] = (colour[at] as number) + (weight * (sums[pixel * stride + c] as number)) / alpha;
      }
    }
  }
}

/** Per row, the number of mask pixels left of each column; one entry more than the width. */
function setBefore(mask: Uint8Array, width: number): Uint32Array {
  const height = mask.length / width;
  const before = new Uint32Array((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      before[y * (width + 1) + x + 1] = (before[y * (width + 1) + x] as number) + (mask[y * width + x] as number);
  return before;
}

interface Place {
  readonly width: number;
  readonly height: number;
  readonly kernel: DiskKernel;
  readonly x: number;
  readonly y: number;
}

/** The mask (default: the whole image) blurred by the disk at (x, y). Summed by parts, a row is -Σ rise · (pixels left of the step). */
function blurredMask(before: Uint32Array | undefined, { width, height, kernel, x, y }: Place): number {
  let sum = 0;
  const bottom = Math.min(y + kernel.half, height - 1);
  for (let row = Math.max(y - kernel.half, 0); row <= bottom; row++) {
    const end = kernel.from[row - y + kernel.half + 1] as number;
    for (let step = kernel.from[row - y + kernel.half] as number; step < end; step++) {
      const column = Math.min(Math.max(x + (kernel.column[step] as number), 0), width);
      sum -= (kernel.rise[step] as number) * (before ? (before[row * (width + 1) + column] as number) : column);
    }
  }
  return sum;
}
