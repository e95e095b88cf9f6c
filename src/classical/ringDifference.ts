import { type FocalStack, focalStack } from "../stack/focalStack.ts";
import { boxMean, type Plane } from "../image/boxFilter.ts";
import { focusPeak, type FocusResult, type PeakFit, type SharpnessVolume } from "./focusPeak.ts";
import { guidedFilter } from "../image/guidedFilter.ts";
import { luminance } from "../image/luminance.ts";

/** Radii in pixels: a disk up to `disk`, then a gap, then a ring from beyond `gap` to `ring`. */
export interface RingShape {
  readonly disk: number;
  readonly gap: number;
  readonly ring: number;
}

const RING: RingShape = { disk: 1, gap: 2, ring: 3 };

/**
 * The ring difference filter (Jeon et al. 2019): |mean of a small disk - mean of a ring around it, a gap between them|.
 * Means make it less sensitive to noise than second differences; the gap lets it respond to coarser texture too.
 * A pixel outside the image takes the value of the nearest one inside.
 */
export function ringDifference(plane: Plane, shape: RingShape = RING): Float32Array {
  const { width, height } = plane;
  const sums = rowSums(plane, shape.ring);
  const [disk, gap, ring] = [diskRows(shape.disk), diskRows(shape.gap), diskRows(shape.ring)];
  const ringPixels = pixelCount(ring) - pixelCount(gap);
  if (ringPixels <= 0 || shape.gap < shape.disk)
    throw new RangeError(`ringDifference: radii must satisfy disk ≤ gap < ring, got ${shape.disk}, ${shape.gap}, ${shape.ring}`);
  const response = new Float32Array(width * height);
  const stride = width + 2 * shape.ring + 1;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y + shape.ring) * stride + x + shape.ring;
      const outer = diskSum(sums, ring, { at, stride }) - diskSum(sums, gap, { at, stride });
      response[y * width + x] = Math.abs(diskSum(sums, disk, { at, stride }) / pixelCount(disk) - outer / ringPixels);
    }
  }
  return response;
}

/** Half the width of a disk on each of its rows, top to bottom. */
function diskRows(radius: number): Int32Array {
  return Int32Array.from({ length: 2 * radius + 1 }, (_, i) => Math.floor(Math.sqrt(radius ** 2 - (i - radius) ** 2)));
}

const pixelCount = (rows: Int32Array): number => rows.reduce((sum, half) => sum + 2 * half + 1, 0);

/** Running sums along each row of the plane extended by `margin` on every side; each row starts with 0. */
function rowSums({ width, height, values }: Plane, margin: number): Float64Array {
  const stride = width + 2 * margin + 1;
  const sums = new Float64Array(stride * (height + 2 * margin));
  for (let row = 0; row < height + 2 * margin; row++) {
    const source = Math.min(Math.max(row - margin, 0), height - 1) * width;
    for (let column = 0; column < stride - 1; column++) {
      const x = Math.min(Math.max(column - margin, 0), width - 1);
      sums[row * stride + column + 1] = (sums[row * stride + column] as number) + (values[source + x] as number);
    }
  }
  return sums;
}

function diskSum(sums: Float64Array, rows: Int32Array, { at, stride }: { at: number; stride: number }): number {
  const radius = (rows.length - 1) / 2;
  let total = 0;
  for (let row = 0; row < rows.length; row++) {
    const [start, half] = [at + (row - radius) * stride, rows[row] as number];
    total += (sums[start + half + 1] as number) - (sums[start - half] as number);
  }
  return total;
}

/** `guided` keeps depth edges on image edges; `box` is plain averaging. `radius` is the window's, in pixels. */
export interface RingDifferenceOptions {
  readonly shape?: RingShape;
  readonly aggregation?: "box" | "guided";
  readonly radius?: number;
  /** The guided filter averages where the image's variance, in squared brightness, is below this. */
  readonly smoothness?: number;
  readonly fit?: PeakFit;
}

/** Depth from the ring difference filter: responses aggregated over a window, sharpest plane, three-point fit. */
export function ringDifferenceDepth(
  stack: FocalStack,
  { shape = RING, aggregation = "guided", radius = 8, smoothness = 1e-3, fit = "gaussian" }: RingDifferenceOptions = {},
): FocusResult {
  const { images, focusDistances, space } = focalStack(stack);
  const grey = images.map(luminance);
  const responses = grey.map((plane) => ({ ...plane, values: ringDifference(plane, shape) }));
  const averaged = volume(responses.map((plane) => ({ ...plane, values: boxMean(plane, radius) })));
  if (aggregation === "box") return focusPeak(averaged, { focusDistances, space, fit });
  const filter = guidedFilter(sharpestPixels(grey, averaged), { radius, smoothness });
  return focusPeak(volume(responses.map((plane) => ({ ...plane, values: filter(plane) }))), { focusDistances, space, fit });
}

function volume(planes: readonly Plane[]): SharpnessVolume {
  const { width, height } = planes[0] as Plane;
  const values = new Float32Array(planes.length * width * height);
  planes.forEach((plane, n) => {
    values.set(plane.values, n * width * height);
  });
  return { planes: planes.length, width, height, values };
}

/** A first all-in-focus image, each pixel from its sharpest plane: the guide whose edges the aggregation keeps. */
function sharpestPixels(grey: readonly Plane[], { width, height, values }: SharpnessVolume): Plane {
  const pixels = width * height;
  const picture = new Float32Array(pixels);
  for (let i = 0; i < pixels; i++) {
    let best = 0;
    for (let n = 1; n < grey.length; n++) if ((values[n * pixels + i] as number) > (values[best * pixels + i] as number)) best = n;
    picture[i] = grey[best]?.values[i] as number;
  }
  return { width, height, values: picture };
}
