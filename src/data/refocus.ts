import type { Image } from "../image/image.ts";

/** Views of a square light field, row by row from the top left, all of one size. */
interface LightField {
  readonly side: number;
  readonly views: readonly Image[];
}

/**
 * Shift and add: the photograph of a lens as large as the array, focused at `disparity` (pixels between neighbouring views, larger is
 * nearer). A point at (x, y) of the middle view lies at (x - u d, y - v d) in the view u columns right and v rows below it.
 */
export function refocus({ side, views }: LightField, disparity: number): Image {
  const [first] = views;
  if (!first || views.length !== side * side) throw new RangeError(`refocus: ${side}×${side} views needed, got ${views.length}`);
  const { width, height, channels } = first;
  const data = new Float32Array(width * height * channels);
  const middle = (side - 1) / 2;
  for (const [index, view] of views.entries()) {
    const [u, v] = [(index % side) - middle, Math.floor(index / side) - middle];
    addShifted(data, view, { across: -u * disparity, down: -v * disparity });
  }
  for (let i = 0; i < data.length; i++) data[i] = (data[i] as number) / views.length;
  return { width, height, channels, data };
}

/** sum(x, y) += view(x + across, y + down), linear between pixels, the border repeated. */
function addShifted(sum: Float32Array, { width, height, channels, data }: Image, { across, down }: { across: number; down: number }): void {
  const columns = sampling(width, across);
  const rows = sampling(height, down);
  for (let y = 0; y < height; y++) {
    const [top, bottom, below] = [(rows.low[y] as number) * width, (rows.high[y] as number) * width, rows.weight[y] as number];
    for (let x = 0; x < width; x++) {
      const [left, right, beside] = [columns.low[x] as number, columns.high[x] as number, columns.weight[x] as number];
      for (let c = 0; c < channels; c++) {
        const at = (pixel: number): number => data[pixel * channels + c] as number;
        const upper = at(top + left) * (1 - beside) + at(top + right) * beside;
        const lower = at(bottom + left) * (1 - beside) + at(bottom + right) * beside;
        const i = (y * width + x) * channels + c;
        sum[i] = (sum[i] as number) + upper * (1 - below) + lower * below;
      }
    }
  }
}

/** For each position the two pixels around its shifted place and the weight of the second. */
function sampling(size: number, shift: number): { low: Int32Array; high: Int32Array; weight: Float64Array } {
  const clamp = (i: number): number => Math.min(Math.max(i, 0), size - 1);
  const whole = Math.floor(shift);
  return {
    low: Int32Array.from({ length: size }, (_, i) => clamp(i + whole)),
    high: Int32Array.from({ length: size }, (_, i) => clamp(i + whole + 1)),
    weight: new Float64Array(size).fill(shift - whole),
  };
}
