import { imageRows, type PictureRows, type Span } from "../image/rows.ts";
import type { Image } from "../image/image.ts";
import { between, rowsBetween, type Between } from "../image/between.ts";
import type { FocusProbability } from "../network/focusProbability.ts";

/**
 * Each pixel from the planes it is sharp in: Σ p_n² I_n / Σ p_n². The square keeps planes that are only nearly sharp from softening it;
 * planes with p_n below a sixteenth of the largest p are left out, because their share would be less than one of 256 steps.
 */
export function blendPlanes(images: readonly Image[], probability: FocusProbability): Image {
  const blender = createBlender(images[0] as Image, probability);
  images.forEach((image, plane) => {
    blender.add(imageRows(image), plane);
  });
  return blender.finish();
}

const LEAST_SHARE = 1 / 16;

/** The same, one plane after the other, for images larger than the probability map; only the sum is kept in memory. */
export function createBlender(
  { width, height, channels }: Pick<Image, "width" | "height" | "channels">,
  probability: FocusProbability,
): { add(rows: PictureRows, plane: number): void; finish(): Image } {
  const sum = new Float32Array(width * height * channels);
  const total = new Float32Array(width * height);
  const across = between({ from: probability.width, to: width });
  const down = between({ from: probability.height, to: height });
  const rowAt = rowsBetween(probability, down);
  const peakAt = rowsBetween({ width: probability.width, values: largest(probability) }, down);
  const spansOf = spanFinder(across, probability.width);
  const area = probability.width * probability.height;

  const addSpan = (picture: Float32Array, p: Float32Array, { y, from, to }: Span & { readonly y: number }): void => {
    const { lower, share, next } = across;
    const first = y * width;
    for (let x = from, at = from * channels; x < to; x++) {
      const column = lower[x] as number;
      const left = p[column] as number;
      const value = left + ((p[column + next] as number) - left) * (share[x] as number);
      const weight = value * value + 1e-9; // never 0
      total[first + x] = (total[first + x] as number) + weight;
      for (const end = at + channels, to = first * channels; at < end; at++)
        sum[to + at] = (sum[to + at] as number) + weight * (picture[at] as number);
    }
  };

  return {
    add(rows, plane) {
      for (let y = 0; y < height; y++) {
        const p = rowAt(y, plane * area);
        for (const span of spansOf(p, peakAt(y))) addSpan(rows(y, span), p, { y, ...span });
      }
    },
    finish() {
      for (let i = 0, at = 0; i < total.length; i++) {
        const factor = 1 / (total[i] as number);
        for (const end = at + channels; at < end; at++) sum[at] = (sum[at] as number) * factor;
      }
      return { width, height, channels, data: sum };
    },
  };
}

/** The largest p at each pixel. */
function largest({ planes, width, height, values }: FocusProbability): Float32Array {
  const peak = values.slice(0, width * height);
  for (let plane = 1; plane < planes; plane++)
    for (let i = 0, at = plane * peak.length; i < peak.length; i++, at++)
      if ((values[at] as number) > (peak[i] as number)) peak[i] = values[at] as number;
  return peak;
}

/** Finds where a plane counts in a row of the large image, given its p and the largest p in that row of the map. */
function spanFinder({ lower, next }: Between, columns: number): (p: Float32Array, peak: Float32Array) => Span[] {
  const intervals = Math.max(columns - 1, 1); // between neighbouring pixels of the map
  const start = new Uint32Array(intervals + 1).fill(lower.length);
  for (let x = lower.length - 1; x >= 0; x--) start[lower[x] as number] = x;
  for (let c = intervals - 1; c >= 0; c--) start[c] = Math.min(start[c] as number, start[c + 1] as number);
  return (p, peak) => {
    const counts = (c: number): boolean => (p[c] as number) >= LEAST_SHARE * (peak[c] as number);
    const spans: { from: number; to: number }[] = [];
    for (let c = 0; c < intervals; c++) {
      if (!(counts(c) || counts(c + next))) continue;
      const [from, to] = [start[c] as number, start[c + 1] as number];
      const last = spans.at(-1);
      if (last?.to === from) last.to = to;
      else spans.push({ from, to });
    }
    return spans;
  };
}
