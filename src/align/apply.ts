import type { Image } from "../image/image.ts";
import type { PictureRows, Span } from "../image/rows.ts";
import type { Size } from "../image/image.ts";
import { type Linear, linearOf, type Similarity } from "./similarity.ts";

/** Lanczos, radius 3: keeps the sharpness that depth from focus measures; bilinear would blur every frame but the reference. */
const TAPS = 6;
const PHASES = 1024;

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** [PHASES + 1, TAPS]: weights of the pixels from two before to three after a position between two pixels; they sum to 1. */
const WEIGHTS = Float32Array.from({ length: (PHASES + 1) * TAPS }, (_, i) => {
  const phase = Math.floor(i / TAPS) / PHASES;
  const lanczos = (tap: number): number => sinc(tap - 2 - phase) * (Math.abs(tap - 2 - phase) < 3 ? sinc((tap - 2 - phase) / 3) : 0);
  const sum = Array.from({ length: TAPS }, (_, tap) => lanczos(tap)).reduce((total, weight) => total + weight, 0);
  return lanczos(i % TAPS) / sum;
});

/** The frame resampled to the reference; `commonArea` tells where it is defined. */
export function warpImage(image: Image, transform: Similarity): Image {
  const { width, height, channels } = image;
  const rowAt = warpedRows(image, transform);
  const data = new Float32Array(width * height * channels);
  for (let y = 0; y < height; y++) data.set(rowAt(y, { from: 0, to: width }), y * width * channels);
  return { width, height, channels, data };
}

/**
 * The same row by row: pixel p takes the value at T(p). Two passes (Catmull and Smith 1980), along rows and then along columns, twelve taps
 * instead of thirty-six; only the rows in use are kept between them. Beyond the frame's edge the outermost pixels are repeated.
 */
export function warpedRows(image: Image, transform: Similarity): PictureRows {
  const { width, height, channels } = image;
  const t = linearOf(transform);
  if (!(t.a > 0.1))
    throw new RangeError(`warpImage: a rotation by ${((transform.angle * 180) / Math.PI).toFixed(0)}° is too large for an alignment`);
  const rows = rowBuffer(image, t);
  const out = new Float32Array(width * channels);
  return (y, span) => {
    const start = t.a * (y - (height - 1) / 2) - (t.b * (width - 1)) / 2 + t.y + (height - 1) / 2; // v at x = 0
    for (let x = span.from; x < span.to;) {
      const row = Math.floor(start + t.b * x);
      const six = sixRows(rows, row, span);
      x = mixRows(six, { out, channels, start: start - row, slope: t.b, from: x, to: span.to });
    }
    return out;
  };
}

interface Mixing extends Span {
  readonly out: Float32Array;
  readonly channels: number;
  /** The position in column x, in rows below the third of the six: start + slope · x. */
  readonly start: number;
  readonly slope: number;
}

/** The pass along columns, as long as it stays between the same six rows; returns the next column. */
function mixRows([r0, r1, r2, r3, r4, r5]: SixRows, { out, channels, start, slope, from, to }: Mixing): number {
  for (let x = from; x < to; x++) {
    const share = start + slope * x;
    if (x > from && !(share >= 0 && share < 1)) return x;
    const at = Math.round(Math.min(Math.max(share, 0), 1) * PHASES) * TAPS;
    const [w0, w1, w2] = [WEIGHTS[at] as number, WEIGHTS[at + 1] as number, WEIGHTS[at + 2] as number];
    const [w3, w4, w5] = [WEIGHTS[at + 3] as number, WEIGHTS[at + 4] as number, WEIGHTS[at + 5] as number];
    for (let i = x * channels; i < (x + 1) * channels; i++) {
      const upper = w0 * (r0[i] as number) + w1 * (r1[i] as number) + w2 * (r2[i] as number);
      const sum = upper + w3 * (r3[i] as number) + w4 * (r4[i] as number) + w5 * (r5[i] as number);
      out[i] = sum < 0 ? 0 : sum > 1 ? 1 : sum;
    }
  }
  return to;
}

type SixRows = readonly [Float32Array, Float32Array, Float32Array, Float32Array, Float32Array, Float32Array];

const sixRows = (rows: PictureRows, row: number, span: Span): SixRows => [
  rows(row - 2, span),
  rows(row - 1, span),
  rows(row, span),
  rows(row + 1, span),
  rows(row + 2, span),
  rows(row + 3, span),
];

/** Columns per resampled chunk. */
const CHUNK = 64;

interface Buffer {
  row: number;
  readonly values: Float32Array;
  /** 1 for each chunk that is computed. */
  readonly made: Uint8Array;
}

/** Rows of the frame, resampled along the row when first needed; the last few are kept. */
function rowBuffer(image: Image, t: Linear): PictureRows {
  const { width, height, channels } = image;
  const kept = Math.ceil(Math.abs(t.b) * width) + TAPS + 2;
  const chunks = Math.ceil(width / CHUNK);
  const buffers = Array.from({ length: kept }, (): Buffer => ({ row: NaN, values: new Float32Array(width * channels), made: new Uint8Array(chunks) })); // prettier-ignore
  return (wanted, { from, to }) => {
    const row = Math.min(Math.max(wanted, 0), height - 1);
    const buffer = buffers[row % kept] as Buffer;
    if (buffer.row !== row) {
      buffer.row = row;
      buffer.made.fill(0);
    }
    for (let chunk = Math.floor(from / CHUNK); chunk * CHUNK < to; chunk++) {
      if (buffer.made[chunk]) continue;
      buffer.made[chunk] = 1;
      resampleRow(image, t, { row, from: chunk * CHUNK, to: Math.min((chunk + 1) * CHUNK, width), out: buffer.values });
    }
    return buffer.values;
  };
}

/** I(x, v) = image(u, v) with u where the output's column x crosses row v: u = x (a + b²/a) - (b/a) (v - t_y) + t_x, from the centre. */
function resampleRow(
  { width, height, channels, data }: Image,
  t: Linear,
  { row, from: first, to, out }: Span & { readonly row: number; readonly out: Float32Array },
): void {
  const step = t.a + t.b ** 2 / t.a;
  const origin = t.x + (width - 1) / 2 - (t.b / t.a) * (row - (height - 1) / 2 - t.y) - (step * (width - 1)) / 2;
  const start = row * width * channels;
  for (let x = first; x < to; x++) {
    const u = origin + step * x;
    const column = Math.floor(u);
    const phase = Math.round((u - column) * PHASES) * TAPS;
    if (column >= 2 && column + 3 < width) {
      const [w0, w1, w2] = [WEIGHTS[phase] as number, WEIGHTS[phase + 1] as number, WEIGHTS[phase + 2] as number];
      const [w3, w4, w5] = [WEIGHTS[phase + 3] as number, WEIGHTS[phase + 4] as number, WEIGHTS[phase + 5] as number];
      const from = start + (column - 2) * channels;
      for (let c = 0; c < channels; c++) {
        const at = from + c;
        const upper = w0 * (data[at] as number) + w1 * (data[at + channels] as number) + w2 * (data[at + 2 * channels] as number);
        const lower = w3 * (data[at + 3 * channels] as number) + w4 * (data[at + 4 * channels] as number);
        out[x * channels + c] = upper + lower + w5 * (data[at + 5 * channels] as number);
      }
    } else {
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        for (let k = 0; k < TAPS; k++) {
          const at = Math.min(Math.max(column - 2 + k, 0), width - 1);
          sum += (WEIGHTS[phase + k] as number) * (data[start + at * channels + c] as number);
        }
        out[x * channels + c] = sum;
      }
    }
  }
}

/** 1 where all frames overlap. */
export function commonArea(transforms: readonly Similarity[], { width, height }: Size): Uint8Array {
  const valid = new Uint8Array(width * height);
  const linear = transforms.map(linearOf);
  for (let y = 0; y < height; y++) {
    const [from, to] = rowInside(linear, y - (height - 1) / 2, { width, height });
    const first = Math.max(0, Math.ceil(from + (width - 1) / 2));
    const last = Math.min(width - 1, Math.floor(to + (width - 1) / 2));
    if (last >= first) valid.fill(1, y * width + first, y * width + last + 1);
  }
  return valid;
}

/** The interval of x, from the centre, in which all frames cover this row of the reference: four bounds each, all linear in x. */
function rowInside(linear: readonly Linear[], y: number, { width, height }: Size): [from: number, to: number] {
  let [from, to] = [-Infinity, Infinity];
  const bound = (slope: number, offset: number, half: number): void => {
    if (Math.abs(slope) < 1e-12) {
      if (Math.abs(offset) > half) to = -Infinity;
      return;
    }
    const [one, two] = [(-half - offset) / slope, (half - offset) / slope];
    from = Math.max(from, Math.min(one, two));
    to = Math.min(to, Math.max(one, two));
  };
  for (const { a, b, x, y: shiftY } of linear) {
    bound(a, x - b * y, width / 2 + 1e-6);
    bound(b, shiftY + a * y, height / 2 + 1e-6);
  }
  return [from, to];
}
