import type { Image, StoredImage } from "../image/image.ts";
import { lanczos } from "../image/resize.ts";
import { imageRows, OVERRUN, type PictureRows, type Span } from "../image/rows.ts";
import type { Size } from "../image/image.ts";
import { workspace } from "../image/simd/workspace.ts";
import { type Linear, linearOf, type Similarity } from "./similarity.ts";

/** Lanczos, radius 3: keeps the sharpness that depth from focus measures; bilinear would blur every frame but the reference. */
const TAPS = 6;
const PHASES = 1024;

/** [PHASES + 1, TAPS]: weights of the pixels from two before to three after a position between two pixels; they sum to 1. */
const WEIGHTS = new Float32Array((PHASES + 1) * TAPS);
for (let phase = 0; phase <= PHASES; phase++) {
  const taps = [-2, -1, 0, 1, 2, 3].map((tap) => lanczos(tap - phase / PHASES));
  const sum = taps.reduce((total, weight) => total + weight);
  WEIGHTS.set(taps.map((weight) => weight / sum), phase * TAPS); // prettier-ignore
}

export const LANCZOS = { taps: TAPS, phases: PHASES, weights: WEIGHTS } as const;

/**
 * The frame resampled to the reference, row by row: pixel p takes the value at T(p); `commonArea` tells where it is defined. Two passes
 * (Catmull and Smith 1980), along rows and then along columns, twelve taps instead of thirty-six; only the rows in use are kept between
 * them. Beyond the frame's edge the outermost pixels are repeated. The rows exist as long as `use` runs.
 */
export function withWarpedRows<T>(image: Image | StoredImage, transform: Similarity, use: (rows: PictureRows) => T): T {
  const { width, height, channels } = image;
  const t = linearOfWarp(transform);
  const { kernels, put, scoped } = workspace();
  return scoped(() => {
    const weights = put(WEIGHTS);
    const rows = rowBuffer(image, t, weights);
    return use((y, { from, to }, into) => {
      const out = into - 4 * from * channels; // of column 0
      const start = t.a * (y - (height - 1) / 2) - (t.b * (width - 1)) / 2 + t.y + (height - 1) / 2; // v at x = 0
      for (let x = from; x < to;) {
        const row = Math.floor(start + t.b * x);
        const six = [-2, -1, 0, 1, 2, 3].map((offset) => rows(row + offset, { from, to }));
        x = kernels.mixRows(out, ...six, weights, channels, x, to, start - row, t.b);
      }
    });
  });
}

/** The transform, if it turns by little enough for two passes. */
export function linearOfWarp(transform: Similarity): Linear {
  const t = linearOf(transform);
  if (!(t.a > 0.1))
    throw new RangeError(`linearOfWarp: a rotation by ${((transform.angle * 180) / Math.PI).toFixed(0)}° is too large for an alignment`);
  return t;
}

/** Columns per resampled chunk. */
const CHUNK = 64;

interface Buffer {
  row: number;
  /** In the workspace. */
  readonly address: number;
  /** 1 for each chunk that is computed. */
  readonly made: Uint8Array;
}

/** Rows of the frame, resampled along the row when first needed; the last few are kept. Returns addresses in the workspace. */
function rowBuffer(image: Image | StoredImage, t: Linear, weights: number): (row: number, span: Span) => number {
  const { width, height, channels } = image;
  const { kernels, take } = workspace();
  const kept = Math.ceil(Math.abs(t.b) * width) + TAPS + 2;
  const chunks = Math.ceil(width / CHUNK);
  const samples = width * channels;
  const buffers = Array.from({ length: kept }, (): Buffer => ({
    row: NaN,
    address: take(samples + OVERRUN),
    made: new Uint8Array(chunks),
  }));
  const source = take(samples + OVERRUN);
  const stored = imageRows(image);
  return (wanted, span) => {
    const row = Math.min(Math.max(wanted, 0), height - 1);
    const buffer = buffers[row % kept] as Buffer;
    if (buffer.row !== row) {
      buffer.row = row;
      buffer.made.fill(0);
    }
    const { from, to } = missingChunks(buffer.made, span, width);
    if (from >= to) return buffer.address;
    const { origin, step } = rowPath({ width, height }, t, row);
    const seen = {
      from: Math.min(Math.max(Math.floor(origin + step * from) - TAPS, 0), width - 1),
      to: Math.max(Math.min(Math.ceil(origin + step * to) + TAPS, width), 1),
    };
    stored(row, seen, source + 4 * seen.from * channels);
    kernels.resampleRow(buffer.address, source, weights, width, channels, from, to, origin, step);
    return buffer.address;
  };
}

/** The columns from the first to the last chunk of the span that is not made yet; marks them as made. */
function missingChunks(made: Uint8Array, { from, to }: Span, width: number): Span {
  let [first, last] = [Math.floor(from / CHUNK), Math.ceil(to / CHUNK) - 1];
  while (first <= last && made[first]) first++;
  while (last >= first && made[last]) last--;
  made.fill(1, first, last + 1);
  return { from: first * CHUNK, to: Math.min((last + 1) * CHUNK, width) };
}

/** I(x, v) = image(u, v) with u where the output's column x crosses row v: u = x (a + b²/a) - (b/a) (v - t_y) + t_x, from the centre. */
export function rowPath({ width, height }: Size, t: Linear, row: number): { origin: number; step: number } {
  const step = t.a + t.b ** 2 / t.a;
  const origin = t.x + (width - 1) / 2 - (t.b / t.a) * (row - (height - 1) / 2 - t.y) - (step * (width - 1)) / 2;
  return { origin, step };
}

/** 1 where all frames overlap, by `margin` pixels or more. */
export function commonArea(transforms: readonly Similarity[], { width, height }: Size, margin = 0): Uint8Array {
  const valid = new Uint8Array(width * height);
  const linear = transforms.map(linearOf);
  const inner = { width: Math.max(width - 2 * margin, 0), height: Math.max(height - 2 * margin, 0) };
  for (let y = 0; y < height; y++) {
    const [from, to] = rowInside(linear, y - (height - 1) / 2, inner);
    const first = Math.max(0, Math.ceil(from + (width - 1) / 2));
    const last = Math.min(width - 1, Math.floor(to + (width - 1) / 2));
    if (last >= first) valid.fill(1, y * width + first, y * width + last + 1);
  }
  return valid;
}

/** The interval of x, from the centre, in which this row of the reference lies in the frames' inner parts of this size: four bounds each, all linear in x. */
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
