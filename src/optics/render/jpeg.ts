import type { Image, Size } from "../../image/image.ts";
import { image } from "../../image/image.ts";

/** Luminance of red, green and blue, and what Cb and Cr are of blue and red without it (ITU-R BT.601). */
export const LUMINANCE_WEIGHTS = [0.299, 0.587, 0.114] as const;
export const CHROMA = { blue: 0.564, red: 0.713 } as const;

/** Sides of images whose chroma at half resolution fills whole blocks are multiples of this. */
export const BLOCK_MULTIPLE = 16;

/** Annex K of the JPEG standard: quantisation of each frequency at quality 50. */
const LUMINANCE = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62, 18, 22,
  37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];
const CHROMINANCE = [17, 18, 24, 47, 18, 21, 26, 66, 24, 26, 56, 99, 47, 66, 99, 99]; // its corner; 99 elsewhere

/** Cosines of the 8-point DCT-II, orthonormal: BASIS[8 k + n]. */
export const BASIS = Float64Array.from({ length: 64 }, (_, i) => {
  const [k, n] = [i >> 3, i & 7];
  return (k === 0 ? Math.SQRT1_2 : 1) * 0.5 * Math.cos(((2 * n + 1) * k * Math.PI) / 16);
});

/** The step of each frequency at `quality` (1–100), by the rule of the Independent JPEG Group. */
function steps(table: (k: number) => number, quality: number): Float64Array {
  const scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  return Float64Array.from({ length: 64 }, (_, k) => Math.min(Math.max(Math.floor((table(k) * scale + 50) / 100), 1), 255));
}

/** The step of each frequency of luminance and of chroma at `quality` (1–100), row by row. */
export const quantisation = (quality: number): { readonly luminance: Float64Array; readonly chroma: Float64Array } => ({
  luminance: steps((k) => LUMINANCE[k] as number, quality),
  chroma: steps((k) => (k >> 3 < 4 && (k & 7) < 4 ? (CHROMINANCE[(k >> 3) * 4 + (k & 7)] as number) : 99), quality),
});

/**
 * The image after JPEG compression at `quality`: 8×8 blocks, quantised frequencies. Chroma at full resolution, or at half of it as
 * phones store it (4:2:0).
 */
export function compressLikeJpeg(picture: Image, quality: number, { chroma = "full" }: { chroma?: "full" | "half" } = {}): Image {
  const { width, height, channels } = picture;
  const step = quantisation(quality);
  const planes = toLuminanceChroma(picture).map((values, c): Plane => {
    const plane = { width, height, values };
    if (c === 0) return rounded(plane, step.luminance);
    return chroma === "full" ? rounded(plane, step.chroma) : doubled(rounded(halved(plane), step.chroma), { width, height });
  });
  const data = new Float32Array(picture.data.length);
  for (let i = 0; i < width * height; i++) fromLuminanceChroma(planes, i, data, channels);
  return image({ width, height, channels, data });
}

interface Plane extends Size {
  readonly values: Float64Array;
}

/** Y − 128, and of colour images Cb and Cr. */
function toLuminanceChroma({ channels, data }: Image): Float64Array[] {
  const [r, g, b] = LUMINANCE_WEIGHTS;
  const planes = Array.from({ length: channels }, () => new Float64Array(data.length / channels));
  for (let i = 0; i < data.length / channels; i++) {
    const red = 255 * (data[channels * i] as number);
    if (channels === 1) {
      (planes[0] as Float64Array)[i] = red - 128;
      continue;
    }
    const blue = 255 * (data[3 * i + 2] as number);
    const luminance = r * red + g * 255 * (data[3 * i + 1] as number) + b * blue;
    [luminance - 128, CHROMA.blue * (blue - luminance), CHROMA.red * (red - luminance)].forEach((value, c) => {
      (planes[c] as Float64Array)[i] = value;
    });
  }
  return planes;
}

function fromLuminanceChroma(planes: readonly Plane[], i: number, out: Float32Array, channels: number): void {
  const put = (c: number, value: number): void => {
    out[channels * i + c] = Math.min(Math.max(Math.round(value), 0), 255) / 255;
  };
  const [y = 0, cb = 0, cr = 0] = planes.map(({ values }) => values[i] as number);
  const luminance = y + 128;
  if (channels === 1) {
    put(0, luminance);
    return;
  }
  const [r, g, b] = LUMINANCE_WEIGHTS;
  const red = luminance + cr / CHROMA.red;
  const blue = luminance + cb / CHROMA.blue;
  put(0, red);
  put(1, (luminance - r * red - b * blue) / g);
  put(2, blue);
}

/** Means of 2×2 pixels; the last row and column of an odd size count twice. */
function halved({ width, height, values }: Plane): Plane {
  const [w, h] = [(width + 1) >> 1, (height + 1) >> 1];
  const at = (x: number, y: number): number => values[Math.min(y, height - 1) * width + Math.min(x, width - 1)] as number;
  const means = Float64Array.from({ length: w * h }, (_, i) => {
    const [x, y] = [2 * (i % w), 2 * Math.floor(i / w)];
    return (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1)) / 4;
  });
  return { width: w, height: h, values: means };
}

/** Twice the size: ¾ of the nearest and ¼ of the next one on each axis, as decoders do. */
function doubled({ width: w, height: h, values }: Plane, { width, height }: Size): Plane {
  const at = (x: number, y: number): number => values[Math.min(Math.max(y, 0), h - 1) * w + Math.min(Math.max(x, 0), w - 1)] as number;
  const wide = Float64Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    const [column, row] = [x >> 1, y >> 1];
    const [nextColumn, nextRow] = [column + (x & 1 ? 1 : -1), row + (y & 1 ? 1 : -1)];
    return (9 * at(column, row) + 3 * at(nextColumn, row) + 3 * at(column, nextRow) + at(nextColumn, nextRow)) / 16;
  });
  return { width, height, values: wide };
}

/** The plane with its blocks' frequencies quantised; blocks at the right and lower border repeat the last pixels. */
function rounded({ width, height, values }: Plane, step: Float64Array): Plane {
  const out = new Float64Array(values.length);
  const block = new Float64Array(64);
  for (let top = 0; top < height; top += 8)
    for (let left = 0; left < width; left += 8) {
      const index = (i: number): number => Math.min(top + (i >> 3), height - 1) * width + Math.min(left + (i & 7), width - 1);
      for (let i = 0; i < 64; i++) block[i] = values[index(i)] as number;
      roundFrequencies(block, step);
      for (let i = 0; i < 64; i++) if (top + (i >> 3) < height && left + (i & 7) < width) out[index(i)] = block[i] as number;
    }
  return { width, height, values: out };
}

/** DCT, quantise, inverse DCT, in place. */
function roundFrequencies(block: Float64Array, step: Float64Array): void {
  const rows = new Float64Array(64);
  for (let y = 0; y < 8; y++)
    for (let k = 0; k < 8; k++)
      for (let n = 0; n < 8; n++)
        rows[8 * y + k] = (rows[8 * y + k] as number) + (BASIS[8 * k + n] as number) * (block[8 * y + n] as number);
  const columns = new Float64Array(64);
  for (let x = 0; x < 8; x++)
    for (let k = 0; k < 8; k++) {
      let value = 0;
      for (let n = 0; n < 8; n++) value += (BASIS[8 * k + n] as number) * (rows[8 * n + x] as number);
      columns[8 * k + x] = Math.round(value / (step[8 * k + x] as number)) * (step[8 * k + x] as number);
    }
  rows.fill(0);
  for (let k = 0; k < 8; k++)
    for (let n = 0; n < 8; n++)
      for (let x = 0; x < 8; x++)
        rows[8 * n + x] = (rows[8 * n + x] as number) + (BASIS[8 * k + n] as number) * (columns[8 * k + x] as number);
  for (let y = 0; y < 8; y++)
    for (let n = 0; n < 8; n++) {
      let value = 0;
      for (let k = 0; k < 8; k++) value += (BASIS[8 * k + n] as number) * (rows[8 * y + k] as number);
      block[8 * y + n] = value;
    }
}
