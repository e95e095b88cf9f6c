import { boxMeanBlock, type Plane } from "../image/boxFilter.ts";
import { blockOf, type Block } from "../image/pyramid.ts";
import { workspace } from "../image/simd/workspace.ts";

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
export function features({ width, height, values }: Plane): Features {
  const levels: Plane[] = [];
  workspace().scoped(() => {
    let level: Block | undefined = blockOf({ width, height, channels: 1, data: values });
    while (level) {
      const smooth = binomial(level);
      levels.push({ width: level.width, height: level.height, values: localBand(smooth) });
      level = halve(smooth);
    }
  });
  return levels;
}

/** Half the size of a level that the binomial filter has smoothed; undefined when the result would be too small to align. */
function halve(smooth: Block): Block | undefined {
  const [width, height] = [smooth.width >> 1, smooth.height >> 1];
  if (Math.min(width, height) < COARSEST_SIDE) return undefined;
  // An even size keeps the centre; with an odd size the last row or column is dropped, which moves it by half a fine pixel.
  const { kernels, take } = workspace();
  const address = take(width * height);
  const row = 4 * smooth.width;
  for (let y = 0; y < height; y++) {
    const upper = smooth.address + 2 * y * row;
    kernels.halveRow(address + 4 * y * width, upper, upper + row, width);
  }
  return { width, height, channels: 1, address };
}

/** [1 2 1]/4 in both directions; the ends of rows and columns are repeated. */
function binomial({ width, height, channels, address }: Block): Block {
  const { kernels, take, view } = workspace();
  const [rows, out] = [take(width * height), take(width * height)];
  const bytes = 4 * width;
  for (let y = 0; y < height; y++) {
    const from = address + y * bytes;
    kernels.mixThree(rows + y * bytes, from - 4, from, from + 4, width, 0.25, 0.5);
    const [row, mixed] = [view(from, width), view(rows + y * bytes, width)];
    mixed[0] = (3 * (row[0] as number) + (row[Math.min(1, width - 1)] as number)) / 4;
    mixed[width - 1] = ((row[Math.max(width - 2, 0)] as number) + 3 * (row[width - 1] as number)) / 4;
  }
  for (let y = 0; y < height; y++) {
    const [above, below] = [Math.max(y - 1, 0), Math.min(y + 1, height - 1)];
    kernels.mixThree(out + y * bytes, rows + above * bytes, rows + y * bytes, rows + below * bytes, width, 0.25, 0.5);
  }
  return { width, height, channels, address: out };
}

/** Detail between two blurs, divided by its root mean square over the window. */
const localBand = (fine: Block): Float32Array =>
  workspace().scoped(() => {
    const { kernels, take, view } = workspace();
    const pixels = fine.width * fine.height;
    const coarse = boxMeanBlock(boxMeanBlock(fine, 2), 2);
    const [band, energy] = [take(pixels), take(pixels)];
    const total = kernels.bandEnergy(band, energy, fine.address, coarse.address, pixels);
    const strength = boxMeanBlock({ ...fine, address: energy }, WINDOW);
    kernels.divideByRoot(band, strength.address, pixels, (WEAK ** 2 * total) / pixels + 1e-12);
    return view(band, pixels).slice();
  });
