import type { Image } from "../image.ts";
import { type DiskKernel, diskKernel } from "./synthesizeDisk.ts";
import { hiddenSurface, OCCLUSION_GAP } from "./synthesizeHidden.ts";

/** Layers are `step` apart in blur radius, in pixels, unless that made more than `most`. */
export const LAYERING = { step: 0.5, most: 64, occlusionGap: OCCLUSION_GAP } as const;

/** Below this share a layer is rounding, not coverage. */
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
 * 1. The picture is cut into layers of nearly equal blur. Behind depth edges the farther surface is continued (`hiddenSurface`).
 * 2. Each layer is blurred by its disk: colour and coverage α_k alike. The coverage is divided by that of everything at or behind the
 *    layer, E_k, blurred by the same disk (Ikoma et al. 2021, occlusion-aware image formation): what a nearer layer hides neither darkens
 *    nor leaks into a farther one, and neighbouring layers of one slanted surface join without a seam.
 * 3. Layers are composited back to front: out ← (1 - α_k / E_k) out + (α_k / E_k) colour_k.
 */
export function layeredBlur({ image, signedRadius }: { image: Image; signedRadius: Float32Array }): Image {
  const { width, height, channels } = image;
  if (signedRadius.length !== width * height)
    throw new RangeError(`layeredBlur: ${width}×${height} needs ${width * height} blur radii, got ${signedRadius.length}`);
  const canvas = {
    colour: new Float64Array(image.data.length),
    weight: new Float64Array(width * height),
    known: new Uint8Array(width * height),
  };
  const sums = new Float64Array(width * height * (channels + 1));
  for (const layer of sliceLayers(signedRadius, width)) {
    for (const pixel of layer.pixels) canvas.known[pixel] = 1;
    const rows = spread(image, layer, sums);
    composite({ width, channels, rows, kernel: layer.kernel, sums }, canvas);
  }
  const data = Float32Array.from(canvas.colour, (value, i) => value / (canvas.weight[Math.floor(i / channels)] as number));
  return { width, height, channels, data };
}

/** Far to near. */
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
        const column = Math.max(x + (kernel.column[step] as number), 0); // what enters left of the image is inside from column 0 on
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
  readonly colour: Float64Array;
  readonly weight: Float64Array;
  /** 1 where a surface at or behind the current layer is known. */
  readonly known: Uint8Array;
}

function composite({ width, channels, rows, kernel, sums }: BlurredLayer, { colour, weight, known }: Canvas): void {
  const stride = channels + 1;
  const height = known.length / width;
  const before = knownBefore(known, width);
  for (let row = rows.first; row <= rows.last; row++) {
    for (let x = 0; x < width; x++) {
      const pixel = row * width + x;
      const alpha = sums[pixel * stride + channels] as number;
      if (alpha < NO_COVERAGE) continue;
      const cover = Math.min(1, alpha / coverageBehind(before, { width, height, kernel, x, y: row }));
      weight[pixel] = (weight[pixel] as number) * (1 - cover) + cover;
      for (let c = 0; c < channels; c++) {
        const value = (sums[pixel * stride + c] as number) / alpha;
        colour[pixel * channels + c] = (colour[pixel * channels + c] as number) * (1 - cover) + value * cover;
      }
    }
  }
}

/** Per row, how many known pixels lie left of each column; one entry more than the row is long. */
function knownBefore(known: Uint8Array, width: number): Uint32Array {
  const height = known.length / width;
  const before = new Uint32Array((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      before[y * (width + 1) + x + 1] = (before[y * (width + 1) + x] as number) + (known[y * width + x] as number);
  return before;
}

interface Place {
  readonly width: number;
  readonly height: number;
  readonly kernel: DiskKernel;
  readonly x: number;
  readonly y: number;
}

/** E_k: the known mask blurred by the disk at (x, y). Summing by parts, a row gives -Σ rise · (known pixels left of the step). */
function coverageBehind(before: Uint32Array, { width, height, kernel, x, y }: Place): number {
  let coverage = 0;
  const bottom = Math.min(y + kernel.half, height - 1);
  for (let row = Math.max(y - kernel.half, 0); row <= bottom; row++) {
    const end = kernel.from[row - y + kernel.half + 1] as number;
    for (let step = kernel.from[row - y + kernel.half] as number; step < end; step++) {
      const column = Math.min(Math.max(x + (kernel.column[step] as number), 0), width);
      coverage -= (kernel.rise[step] as number) * (before[row * (width + 1) + column] as number);
    }
  }
  return coverage;
}
