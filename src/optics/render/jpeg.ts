import type { Image } from "../../image/image.ts";
import { image } from "../../image/image.ts";

/** Annex K of the JPEG standard: quantisation of each frequency at quality 50. */
const LUMINANCE = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62, 18, 22,
  37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];
const CHROMINANCE = [17, 18, 24, 47, 18, 21, 26, 66, 24, 26, 56, 99, 47, 66, 99, 99]; // its corner; 99 elsewhere

/** Cosines of the 8-point DCT-II, orthonormal: BASIS[8 k + n]. */
const BASIS = Float64Array.from({ length: 64 }, (_, i) => {
  const [k, n] = [i >> 3, i & 7];
  return (k === 0 ? Math.SQRT1_2 : 1) * 0.5 * Math.cos(((2 * n + 1) * k * Math.PI) / 16);
});

/** The step of each frequency at `quality` (1–100), by the rule of the Independent JPEG Group. */
function steps(table: (k: number) => number, quality: number): Float64Array {
  const scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  return Float64Array.from({ length: 64 }, (_, k) => Math.min(Math.max(Math.floor((table(k) * scale + 50) / 100), 1), 255));
}

/** The image after JPEG compression at `quality`: 8×8 blocks, quantised frequencies, chroma at full resolution. */
export function compressLikeJpeg(picture: Image, quality: number): Image {
  const { width, height, channels, data } = picture;
  const fine = steps((k) => LUMINANCE[k] as number, quality);
  const coarse = steps((k) => (k >> 3 < 4 && (k & 7) < 4 ? (CHROMINANCE[(k >> 3) * 4 + (k & 7)] as number) : 99), quality);
  const out = new Float32Array(data.length);
  const block = new Float64Array(64 * channels);
  for (let top = 0; top < height; top += 8)
    for (let left = 0; left < width; left += 8) {
      const index = (i: number): number => (Math.min(top + (i >> 3), height - 1) * width + Math.min(left + (i & 7), width - 1)) * channels;
      for (let i = 0; i < 64; i++) toLuminanceChroma(data, index(i), block, i, channels);
      for (let c = 0; c < channels; c++) roundFrequencies(block.subarray(64 * c, 64 * c + 64), c === 0 ? fine : coarse);
      for (let i = 0; i < 64; i++)
        if (top + (i >> 3) < height && left + (i & 7) < width) fromLuminanceChroma(block, i, out, index(i), channels);
    }
  return image({ width, height, channels, data: out });
}

function toLuminanceChroma(data: Float32Array, at: number, block: Float64Array, i: number, channels: number): void {
  const red = 255 * (data[at] as number);
  if (channels === 1) {
    block[i] = red - 128;
    return;
  }
  const green = 255 * (data[at + 1] as number);
  const blue = 255 * (data[at + 2] as number);
  const luminance = 0.299 * red + 0.587 * green + 0.114 * blue;
  block[i] = luminance - 128;
  block[64 + i] = 0.564 * (blue - luminance);
  block[128 + i] = 0.713 * (red - luminance);
}

function fromLuminanceChroma(block: Float64Array, i: number, out: Float32Array, at: number, channels: number): void {
  const put = (c: number, value: number): void => {
    out[at + c] = Math.min(Math.max(Math.round(value), 0), 255) / 255;
  };
  const luminance = (block[i] as number) + 128;
  if (channels === 1) {
    put(0, luminance);
    return;
  }
  const red = luminance + (block[128 + i] as number) / 0.713;
  const blue = luminance + (block[64 + i] as number) / 0.564;
  put(0, red);
  put(1, (luminance - 0.299 * red - 0.114 * blue) / 0.587);
  put(2, blue);
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
