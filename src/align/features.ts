import { boxMean, type Plane } from "../image/boxFilter.ts";

/**
 * What is compared to align two images of different sharpness: at each level of a pyramid, one frequency band, divided by its local
 * strength. Blur changes the strength of a band and exposure that of the whole image; neither changes the pattern.
 */
export type Features = readonly Plane[];

/** Smallest side of the coarsest level, in pixels: enough to find a shift of a few tenths of the image. */
const COARSEST_SIDE = 24;

/** Radius of the window over which strength is measured. */
const WINDOW = 6;

/** Detail weaker than this share of the image's mean strength counts less; otherwise noise would be amplified to full strength. */
const WEAK = 0.25;

/** Finest level first. */
export function features(plane: Plane): Features {
  const levels: Plane[] = [];
  for (let level: Plane | undefined = plane; level; level = halve(level)) levels.push(localBand(level));
  return levels;
}

/** Half the size after a binomial low-pass; undefined when the result would be too small to align. */
function halve(plane: Plane): Plane | undefined {
  const [width, height] = [plane.width >> 1, plane.height >> 1];
  if (Math.min(width, height) < COARSEST_SIDE) return undefined;
  // An even size keeps the centre; with an odd size the last row or column is dropped, which moves it by half a fine pixel.
  const smooth = binomial(plane);
  const values = new Float32Array(width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = 2 * y * plane.width + 2 * x;
      const [left, right] = [at, at + 1];
      values[y * width + x] =
        ((smooth[left] as number) +
          (smooth[right] as number) +
          (smooth[left + plane.width] as number) +
          (smooth[right + plane.width] as number)) /
        4;
    }
  return { width, height, values };
}

/** [1 2 1]/4 in both directions. */
function binomial({ width, height, values }: Plane): Float32Array {
  const rows = new Float32Array(values.length);
  const out = new Float32Array(values.length);
  for (let y = 0; y < height; y++) {
    const start = y * width;
    for (let x = 0; x < width; x++) {
      const left = values[start + Math.max(x - 1, 0)] as number;
      const right = values[start + Math.min(x + 1, width - 1)] as number;
      rows[start + x] = (left + 2 * (values[start + x] as number) + right) / 4;
    }
  }
  for (let y = 0; y < height; y++) {
    const [above, start, below] = [Math.max(y - 1, 0) * width, y * width, Math.min(y + 1, height - 1) * width];
    for (let x = 0; x < width; x++)
      out[start + x] = ((rows[above + x] as number) + 2 * (rows[start + x] as number) + (rows[below + x] as number)) / 4;
  }
  return out;
}

/** Detail between two blurs, divided by its root mean square over the window. */
function localBand(plane: Plane): Plane {
  const { width, height } = plane;
  const fine = binomial(plane);
  const coarse = boxMean({ width, height, values: boxMean({ width, height, values: fine }, 2) }, 2);
  const values = new Float32Array(fine.length);
  const energy = new Float32Array(fine.length);
  let total = 0;
  for (let i = 0; i < values.length; i++) {
    const band = (fine[i] as number) - (coarse[i] as number);
    values[i] = band;
    energy[i] = band * band;
    total += band * band;
  }
  const floor = (WEAK ** 2 * total) / values.length + 1e-12;
  const strength = boxMean({ width, height, values: energy }, WINDOW);
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) / Math.sqrt((strength[i] as number) + floor);
  return { width, height, values };
}
