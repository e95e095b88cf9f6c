import type { Plane } from "./boxFilter.ts";
import type { Image } from "./image.ts";

export interface MedianSource {
  readonly map: Plane;
  /** The picture that belongs to the map, pixel on pixel. */
  readonly colours: Image;
  /** What each pixel of the map counts; default: 1. */
  readonly weights?: Float32Array;
}

export interface MedianOptions {
  /** Pixels of the map from the middle of the window to its sides. */
  readonly radius: number;
  /** Standard deviation of the Gaussian over distance, in pixels of the map. */
  readonly reach: number;
  /** Standard deviation of the Gaussian over colour, as a share of the root mean square difference of the window's colours from the one that is asked for. */
  readonly likeness: number;
}

/** The median for a place, in pixels of the map (their centres at whole numbers), and a colour, which begins at `colours[at]`. */
type Median = (x: number, y: number, colours: Float32Array, at: number) => number;

/**
 * The joint weighted median filter (Ma et al. 2013). Of the values v_j in the window around a pixel of the map it gives, for a place x near that pixel and a colour c, the median by the weights
 *
 *     w_j · exp(−|c_j − c|² / 2σ²) · exp(−|x_j − x|² / 2ρ²),   σ² = likeness² · mean_j |c_j − c|²
 *
 * with ρ the reach: the value of those pixels that look alike and are near. As σ follows the contrast in the window, exposure plays no part. If all weights are 0, it is the least value. A window may be asked many times, for
 * instance by the pixels of a larger picture, until the next one is taken.
 */
export function jointMedian(
  { map, colours, weights }: MedianSource,
  { radius, reach, likeness }: MedianOptions,
): (column: number, row: number) => Median {
  const { width, height, values } = map;
  const { channels, data } = colours;
  const most = (2 * radius + 1) ** 2;
  const pixels = new Int32Array(most); // of the window, in increasing order of their values
  const [columns, rows] = [new Int32Array(most), new Int32Array(most)] as const;
  const near = new Float32Array(most * channels); // their colours
  const [squares, shares] = [new Float64Array(most), new Float64Array(most)] as const;
  let count = 0;

  const median: Median = (x, y, asked, at) => {
    const [least, greatest] = [values[pixels[0] as number] as number, values[pixels[count - 1] as number] as number];
    if (least === greatest) return least;
    let sum = 0;
    for (let k = 0, own = 0; k < count; k++) {
      let square = 0;
      for (let c = 0; c < channels; c++, own++) square += ((near[own] as number) - (asked[at + c] as number)) ** 2;
      squares[k] = square;
      sum += square;
    }
    const perSquare = sum > 0 ? count / (2 * likeness ** 2 * sum) : 0; // 1 / 2σ²
    let total = 0;
    for (let k = 0; k < count; k++) {
      const distance = ((columns[k] as number) - x) ** 2 + ((rows[k] as number) - y) ** 2;
      const alike = Math.exp(-perSquare * (squares[k] as number) - distance / (2 * reach ** 2));
      const share = weights ? (weights[pixels[k] as number] as number) * alike : alike;
      shares[k] = share;
      total += share;
    }
    let [k, reached] = [0, shares[0] as number];
    while (reached < total / 2) reached += shares[++k] as number;
    return values[pixels[k] as number] as number;
  };

  return (column, row) => {
    const [left, right] = [Math.max(column - radius, 0), Math.min(column + radius, width - 1)];
    const [top, bottom] = [Math.max(row - radius, 0), Math.min(row + radius, height - 1)];
    count = 0;
    for (let v = top; v <= bottom; v++)
      for (let j = v * width + left; j <= v * width + right; j++) {
        let k = count++;
        for (; k > 0 && (values[pixels[k - 1] as number] as number) > (values[j] as number); k--) pixels[k] = pixels[k - 1] as number;
        pixels[k] = j;
      }
    for (let k = 0, own = 0; k < count; k++) {
      const j = pixels[k] as number;
      rows[k] = Math.floor(j / width);
      columns[k] = j % width;
      for (let c = 0; c < channels; c++, own++) near[own] = data[j * channels + c] as number;
    }
    return median;
  };
}
