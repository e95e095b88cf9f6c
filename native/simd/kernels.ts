// The inner loops of warping, pyramids and box filters in WebAssembly with SIMD. This is AssemblyScript, compiled by
// `node scripts/buildKernels.js` into src/image/simd/bytes.ts. Arguments are addresses in the module's memory unless they are counts;
// samples are f32, channels interleaved. A pixel of three channels is loaded as four lanes, the last of which belongs to its right
// neighbour, so that the memory needs 16 bytes more than its last row.

const TAPS: usize = 6;
const PHASES: f64 = 1024;

function pixel(at: usize, x: i32, channels: i32): usize {
  return at + ((<usize>(x * channels)) << 2);
}

/** The first three lanes. */
function storePixel(at: usize, value: v128): void {
  v128.store64_lane(at, value, 0);
  v128.store32_lane(at, value, 2, 8);
}

/** One pass of a warp: pixel x of `out` is the row at `origin + step · x`, Lanczos; beyond the ends the outermost pixel is repeated. */
export function resampleRow(
  out: usize,
  row: usize,
  weights: usize,
  width: i32,
  channels: i32,
  from: i32,
  to: i32,
  origin: f64,
  step: f64,
): void {
  const size = (<usize>channels) << 2;
  for (let x = from; x < to; x++) {
    const u = origin + step * <f64>x;
    const below = Math.floor(u);
    const column = <i32>below;
    const w = weights + ((<usize>(<i32>Math.floor((u - below) * PHASES + 0.5)) * TAPS) << 2);
    const target = pixel(out, x, channels);
    if (column >= 2 && column + 3 < width) {
      const at = pixel(row, column - 2, channels);
      if (channels == 3) {
        let sum = f32x4.mul(v128.load32_splat(w), v128.load(at));
        sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(w, 4), v128.load(at, 12)));
        sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(w, 8), v128.load(at, 24)));
        sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(w, 12), v128.load(at, 36)));
        sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(w, 16), v128.load(at, 48)));
        sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(w, 20), v128.load(at, 60)));
        storePixel(target, sum);
      } else {
        let sum = load<f32>(w) * load<f32>(at) + load<f32>(w, 4) * load<f32>(at, 4) + load<f32>(w, 8) * load<f32>(at, 8);
        sum += load<f32>(w, 12) * load<f32>(at, 12) + load<f32>(w, 16) * load<f32>(at, 16) + load<f32>(w, 20) * load<f32>(at, 20);
        store<f32>(target, sum);
      }
    } else {
      for (let c: usize = 0; c < size; c += 4) {
        let sum: f32 = 0;
        for (let k = 0; k < <i32>TAPS; k++) {
          const clamped = min(max(column - 2 + k, 0), width - 1);
          sum += load<f32>(w + ((<usize>k) << 2)) * load<f32>(pixel(row, clamped, channels) + c);
        }
        store<f32>(target + c, sum);
      }
    }
  }
}

/**
 * The other pass: mixes six rows, the position between the third and the fourth being `start + slope · x`, clips to [0, 1], and stops
 * where the position leaves them; returns the next column. Pixels of one phase share their weights.
 */
export function mixRows(
  out: usize,
  r0: usize,
  r1: usize,
  r2: usize,
  r3: usize,
  r4: usize,
  r5: usize,
  weights: usize,
  channels: i32,
  from: i32,
  to: i32,
  start: f64,
  slope: f64,
): i32 {
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  let x = from;
  while (x < to) {
    const share = start + slope * <f64>x;
    if (x > from && !(share >= 0 && share < 1)) return x;
    const phase = Math.floor(Math.min(Math.max(share, 0), 1) * PHASES + 0.5);
    let end = slope == 0 ? to : x + 1;
    while (end < to) {
      const next = start + slope * <f64>end;
      if (!(next >= 0 && next < 1) || Math.floor(next * PHASES + 0.5) != phase) break;
      end++;
    }
    const w = weights + ((<usize>(<i32>phase) * TAPS) << 2);
    const w0 = v128.load32_splat(w);
    const w1 = v128.load32_splat(w, 4);
    const w2 = v128.load32_splat(w, 8);
    const w3 = v128.load32_splat(w, 12);
    const w4 = v128.load32_splat(w, 16);
    const w5 = v128.load32_splat(w, 20);
    const last = (<usize>(end * channels)) << 2;
    for (let i = (<usize>(x * channels)) << 2; i < last; i += 16) {
      let sum = f32x4.mul(w0, v128.load(r0 + i));
      sum = f32x4.add(sum, f32x4.mul(w1, v128.load(r1 + i)));
      sum = f32x4.add(sum, f32x4.mul(w2, v128.load(r2 + i)));
      sum = f32x4.add(sum, f32x4.mul(w3, v128.load(r3 + i)));
      sum = f32x4.add(sum, f32x4.mul(w4, v128.load(r4 + i)));
      sum = f32x4.add(sum, f32x4.mul(w5, v128.load(r5 + i)));
      v128.store(out + i, f32x4.min(f32x4.max(sum, zero), one)); // what is written beyond `end` is overwritten by the next run
    }
    x = end;
  }
  return to;
}

/** Looks every sample up in its channel's table of `size` + 2 values, linear in between. In place. */
export function lookUpRow(row: usize, tables: usize, size: i32, channels: i32, from: i32, to: i32): void {
  const length = (<usize>(size + 2)) << 2;
  const last = pixel(row, to, channels);
  if (channels == 3) {
    const zero = f32x4.splat(0);
    const one = f32x4.splat(1);
    const top = f32x4.splat(<f32>size);
    const second = tables + length;
    const third = second + length;
    for (let at = pixel(row, from, channels); at < last; at += 12) {
      const place = f32x4.mul(f32x4.min(f32x4.max(v128.load(at), zero), one), top);
      const below = i32x4.trunc_sat_f32x4_s(place);
      const first = v128.load64_zero(tables + ((<usize>i32x4.extract_lane(below, 0)) << 2));
      const pairs = v128.load64_lane(second + ((<usize>i32x4.extract_lane(below, 1)) << 2), first, 1); // of red and green
      const blue = v128.load64_zero(third + ((<usize>i32x4.extract_lane(below, 2)) << 2));
      const value = i8x16.shuffle(pairs, blue, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
      const next = i8x16.shuffle(pairs, blue, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
      const share = f32x4.sub(place, f32x4.convert_i32x4_s(below));
      storePixel(at, f32x4.add(value, f32x4.mul(f32x4.sub(next, value), share)));
    }
    return;
  }
  const top = <f32>size;
  for (let c = 0; c < channels; c++) {
    const table = tables + <usize>c * length;
    for (let at = pixel(row, from, channels) + ((<usize>c) << 2); at < last; at += (<usize>channels) << 2) {
      const place = min<f32>(max<f32>(load<f32>(at), 0), 1) * top;
      const below = <i32>place;
      const entry = table + ((<usize>below) << 2);
      const value = load<f32>(entry);
      store<f32>(at, value + (load<f32>(entry, 4) - value) * (place - <f32>below));
    }
  }
}

/** Half of a row after (1 4 6 4 1)/16; ends are repeated. */
export function reduceRow(out: usize, row: usize, width: i32, channels: i32): void {
  const half = (width + 1) >> 1;
  const size = (<usize>channels) << 2;
  const four = f32x4.splat(0.25);
  const six = f32x4.splat(0.375);
  const sixteenth = f32x4.splat(0.0625);
  for (let x = 0; x < half; x++) {
    const middle = 2 * x;
    const a = pixel(row, max(middle - 2, 0), channels);
    const b = pixel(row, max(middle - 1, 0), channels);
    const c = pixel(row, middle, channels);
    const d = pixel(row, min(middle + 1, width - 1), channels);
    const e = pixel(row, min(middle + 2, width - 1), channels);
    const target = pixel(out, x, channels);
    if (channels == 3) {
      const outer = f32x4.mul(sixteenth, f32x4.add(v128.load(a), v128.load(e)));
      const inner = f32x4.mul(four, f32x4.add(v128.load(b), v128.load(d)));
      storePixel(target, f32x4.add(f32x4.add(outer, inner), f32x4.mul(six, v128.load(c))));
    } else
      for (let k: usize = 0; k < size; k += 4) {
        const outer = <f32>0.0625 * (load<f32>(a + k) + load<f32>(e + k));
        store<f32>(target + k, outer + <f32>0.25 * (load<f32>(b + k) + load<f32>(d + k)) + <f32>0.375 * load<f32>(c + k));
      }
  }
}

/** `out` = Σ of the rows by (1 4 6 4 1)/16. */
export function mixFive(out: usize, a: usize, b: usize, c: usize, d: usize, e: usize, count: i32): void {
  const four = f32x4.splat(0.25);
  const six = f32x4.splat(0.375);
  const sixteenth = f32x4.splat(0.0625);
  const bytes = (<usize>count) << 2;
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    const outer = f32x4.mul(sixteenth, f32x4.add(v128.load(a + i), v128.load(e + i)));
    const inner = f32x4.mul(four, f32x4.add(v128.load(b + i), v128.load(d + i)));
    v128.store(out + i, f32x4.add(f32x4.add(outer, inner), f32x4.mul(six, v128.load(c + i))));
  }
  for (; i < bytes; i += 4) {
    const outer = <f32>0.0625 * (load<f32>(a + i) + load<f32>(e + i));
    store<f32>(out + i, outer + <f32>0.25 * (load<f32>(b + i) + load<f32>(d + i)) + <f32>0.375 * load<f32>(c + i));
  }
}

/** `out` = side · (above + below) + centre · here. */
export function mixThree(out: usize, above: usize, here: usize, below: usize, count: i32, side: f32, centre: f32): void {
  const s = f32x4.splat(side);
  const c = f32x4.splat(centre);
  const bytes = (<usize>count) << 2;
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    const sides = f32x4.mul(s, f32x4.add(v128.load(above + i), v128.load(below + i)));
    v128.store(out + i, f32x4.add(sides, f32x4.mul(c, v128.load(here + i))));
  }
  for (; i < bytes; i += 4) store<f32>(out + i, side * (load<f32>(above + i) + load<f32>(below + i)) + centre * load<f32>(here + i));
}

/** `into` += sign · the row, brought to twice its size: (1 6 1)/8 at its own pixels, (1 1)/2 between them; ends are repeated. */
export function addExpandedRow(into: usize, row: usize, width: i32, channels: i32, wanted: i32, sign: f32): void {
  const size = (<usize>channels) << 2;
  const eighth = f32x4.splat(0.125 * sign);
  const most = f32x4.splat(0.75 * sign);
  const half = f32x4.splat(0.5 * sign);
  for (let x = 0; x < width; x++) {
    const left = pixel(row, max(x - 1, 0), channels);
    const here = pixel(row, x, channels);
    const right = pixel(row, min(x + 1, width - 1), channels);
    const even = pixel(into, 2 * x, channels);
    const odd = even + size;
    const hasOdd = 2 * x + 1 < wanted;
    if (channels == 3) {
      const value = v128.load(here);
      const next = v128.load(right);
      const sides = f32x4.mul(eighth, f32x4.add(v128.load(left), next));
      storePixel(even, f32x4.add(v128.load(even), f32x4.add(sides, f32x4.mul(most, value))));
      if (hasOdd) storePixel(odd, f32x4.add(v128.load(odd), f32x4.mul(half, f32x4.add(value, next))));
    } else
      for (let k: usize = 0; k < size; k += 4) {
        const value = load<f32>(here + k);
        const next = load<f32>(right + k);
        store<f32>(even + k, load<f32>(even + k) + sign * (<f32>0.125 * (load<f32>(left + k) + next) + <f32>0.75 * value));
        if (hasOdd) store<f32>(odd + k, load<f32>(odd + k) + sign * <f32>0.5 * (value + next));
      }
  }
}

/** Σ over the channels of the squared samples. */
export function energies(out: usize, samples: usize, count: i32, channels: i32): void {
  for (let i = 0; i < count; i++) {
    const at = pixel(samples, i, channels);
    let sum: f32 = 0;
    if (channels == 3) {
      const value = v128.load(at);
      const square = f32x4.mul(value, value);
      sum = f32x4.extract_lane(square, 0) + f32x4.extract_lane(square, 1) + f32x4.extract_lane(square, 2);
    } else
      for (let c = 0; c < channels; c++) {
        const value = load<f32>(at + ((<usize>c) << 2));
        sum += value * value;
      }
    store<f32>(out + ((<usize>i) << 2), sum);
  }
}

/** `out` = one + (two - one) · share. */
export function mixTwo(out: usize, one: usize, two: usize, count: i32, share: f32): void {
  const s = f32x4.splat(share);
  const bytes = (<usize>count) << 2;
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    const first = v128.load(one + i);
    v128.store(out + i, f32x4.add(first, f32x4.mul(s, f32x4.sub(v128.load(two + i), first))));
  }
  for (; i < bytes; i += 4) store<f32>(out + i, load<f32>(one + i) + share * (load<f32>(two + i) - load<f32>(one + i)));
}

/** Linear interpolation along a row, sample i between those at `lower[i]` and `next` after it. */
export function stretchRow(out: usize, row: usize, lower: usize, shares: usize, next: i32, count: i32): void {
  const step = (<usize>next) << 2;
  const bytes = (<usize>count) << 2;
  for (let i: usize = 0; i < bytes; i += 4) {
    const at = row + ((<usize>load<u32>(lower + i)) << 2);
    const value = load<f32>(at);
    store<f32>(out + i, value + (load<f32>(at + step) - value) * load<f32>(shares + i));
  }
}

/**
 * Mean over the square of side 2 · radius + 1 around each pixel, without what is outside the map. `columns` is room for `width` f64, the
 * sums over the rows of the window; `padded` for width + 2 · radius + 8 f32.
 */
export function boxMean(out: usize, values: usize, width: i32, height: i32, radius: i32, columns: usize, padded: usize): void {
  const bytes = (<usize>width) << 2;
  memory.fill(columns, 0, bytes << 1);
  memory.fill(padded, 0, (<usize>(width + 2 * radius + 8)) << 2);
  for (let row = 0; row <= min(radius, height - 1); row++) addColumns(columns, values + <usize>row * bytes, width, 1);
  const inner = padded + ((<usize>radius) << 2);
  const last = width - 1;
  for (let y = 0; y < height; y++) {
    const rows = min(y + radius, height - 1) - max(y - radius, 0) + 1;
    demote(inner, columns, width);
    const to = out + <usize>y * bytes;
    windowSums(to, padded, width, 2 * radius + 1);
    const inside = <f32>(1.0 / <f64>((2 * radius + 1) * rows));
    scale(to, width, inside);
    for (let x = 0; x < min(radius, width); x++) {
      const left = min(x + radius, last) - max(x - radius, 0) + 1;
      const one = to + ((<usize>x) << 2);
      store<f32>(one, load<f32>(one) * <f32>(<f64>(2 * radius + 1) / <f64>left));
      const mirrored = last - x;
      if (mirrored < radius || mirrored <= x) continue; // its window reaches over both ends: done from the left
      const other = to + ((<usize>mirrored) << 2);
      store<f32>(other, load<f32>(other) * <f32>(<f64>(2 * radius + 1) / <f64>left));
    }
    if (y + radius + 1 < height) addColumns(columns, values + <usize>(y + radius + 1) * bytes, width, 1);
    if (y - radius >= 0) addColumns(columns, values + <usize>(y - radius) * bytes, width, -1);
  }
}

/** columns += sign · row. */
function addColumns(columns: usize, row: usize, width: i32, sign: f64): void {
  const s = f64x2.splat(sign);
  let x = 0;
  for (; x + 4 <= width; x += 4) {
    const four = v128.load(row + ((<usize>x) << 2));
    const at = columns + ((<usize>x) << 3);
    v128.store(at, f64x2.add(v128.load(at), f64x2.mul(s, f64x2.promote_low_f32x4(four))));
    const upper = i8x16.shuffle(four, four, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    v128.store(at, f64x2.add(v128.load(at, 16), f64x2.mul(s, f64x2.promote_low_f32x4(upper))), 16);
  }
  for (; x < width; x++) {
    const at = columns + ((<usize>x) << 3);
    store<f64>(at, load<f64>(at) + sign * <f64>load<f32>(row + ((<usize>x) << 2)));
  }
}

/** out[x] = Σ of the `length` values from x on. */
function windowSums(out: usize, values: usize, width: i32, length: i32): void {
  const bytes = (<usize>width) << 2;
  const reach = (<usize>length) << 2;
  let i: usize = 0;
  for (; i + 64 <= bytes; i += 64) {
    let a = f32x4.splat(0);
    let b = a;
    let c = a;
    let d = a;
    for (let at = values + i; at < values + i + reach; at += 4) {
      a = f32x4.add(a, v128.load(at));
      b = f32x4.add(b, v128.load(at, 16));
      c = f32x4.add(c, v128.load(at, 32));
      d = f32x4.add(d, v128.load(at, 48));
    }
    v128.store(out + i, a);
    v128.store(out + i, b, 16);
    v128.store(out + i, c, 32);
    v128.store(out + i, d, 48);
  }
  for (; i < bytes; i += 4) {
    let sum: f32 = 0;
    for (let at = values + i; at < values + i + reach; at += 4) sum += load<f32>(at);
    store<f32>(out + i, sum);
  }
}

function scale(row: usize, count: i32, factor: f32): void {
  const f = f32x4.splat(factor);
  const bytes = (<usize>count) << 2;
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) v128.store(row + i, f32x4.mul(f, v128.load(row + i)));
  for (; i < bytes; i += 4) store<f32>(row + i, factor * load<f32>(row + i));
}

/** f64 → f32. */
function demote(out: usize, values: usize, count: i32): void {
  let x = 0;
  for (; x + 4 <= count; x += 4) {
    const at = values + ((<usize>x) << 3);
    const low = f32x4.demote_f64x2_zero(v128.load(at));
    const high = f32x4.demote_f64x2_zero(v128.load(at, 16));
    v128.store(out + ((<usize>x) << 2), i8x16.shuffle(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23));
  }
  for (; x < count; x++) store<f32>(out + ((<usize>x) << 2), <f32>load<f64>(values + ((<usize>x) << 3)));
}

/** out += weight · row. */
export function addScaled(out: usize, row: usize, count: i32, weight: f32): void {
  const w = f32x4.splat(weight);
  const bytes = (<usize>count) << 2;
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) v128.store(out + i, f32x4.add(v128.load(out + i), f32x4.mul(w, v128.load(row + i))));
  for (; i < bytes; i += 4) store<f32>(out + i, load<f32>(out + i) + weight * load<f32>(row + i));
}

/** out = max(out, row). */
export function maxInto(out: usize, row: usize, count: i32): void {
  const bytes = (<usize>count) << 2;
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) v128.store(out + i, f32x4.max(v128.load(out + i), v128.load(row + i)));
  for (; i < bytes; i += 4) store<f32>(out + i, max<f32>(load<f32>(out + i), load<f32>(row + i)));
}

/** Pixel x of `out` = Σ over `taps[x]` pixels from `first[x]` on, by the weights from `weights[x · most]` on. */
export function filterRow(out: usize, row: usize, first: usize, taps: usize, weights: usize, most: i32, count: i32, channels: i32): void {
  const size = (<usize>channels) << 2;
  for (let x = 0; x < count; x++) {
    const offset = (<usize>x) << 2;
    const end = load<u32>(taps + offset);
    const w = weights + ((<usize>(x * most)) << 2);
    let at = pixel(row, load<u32>(first + offset), channels);
    const target = pixel(out, x, channels);
    if (channels == 3) {
      let sum = f32x4.splat(0);
      for (let k: u32 = 0; k < end; k++, at += 12) sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(w + ((<usize>k) << 2)), v128.load(at)));
      storePixel(target, sum);
    } else
      for (let c: usize = 0; c < size; c += 4) {
        let sum: f32 = 0;
        for (let k: u32 = 0; k < end; k++) sum += load<f32>(w + ((<usize>k) << 2)) * load<f32>(at + <usize>k * size + c);
        store<f32>(target + c, sum);
      }
  }
}

/** A plane that counts wins over none. */
const LEAST_ENERGY: f32 = 1e-12;

/**
 * Where the energy of a plane, weighted by at least `least`, is above the score so far: writes the first such pixel and the one after the last
 * to `span`, as f32; returns whether there is one.
 */
export function findStronger(span: usize, score: usize, energy: usize, prior: usize, count: i32, least: f32): i32 {
  const floor = f32x4.splat(least);
  const base = f32x4.splat(LEAST_ENERGY);
  let first = -1;
  let last = -1;
  for (let i = 0; i < count; i += 4) {
    const offset = (<usize>i) << 2;
    const own = f32x4.mul(f32x4.max(v128.load(prior + offset), floor), f32x4.add(v128.load(energy + offset), base));
    let stronger = i32x4.bitmask(f32x4.gt(own, v128.load(score + offset)));
    if (i + 4 > count) stronger &= (1 << (count - i)) - 1;
    if (stronger == 0) continue;
    if (first < 0) first = i + ctz(stronger);
    last = i + 31 - clz(stronger);
  }
  if (first < 0) return 0;
  store<f32>(span, <f32>first);
  store<f32>(span, <f32>(last + 1), 4);
  return 1;
}

/** Takes the detail of a plane wherever its energy, weighted by at least `least`, is above the score so far. */
export function chooseRow(
  score: usize,
  data: usize,
  energy: usize,
  prior: usize,
  detail: usize,
  count: i32,
  channels: i32,
  least: f32,
): void {
  const size = (<usize>channels) << 2;
  for (let i = 0; i < count; i++) {
    const offset = (<usize>i) << 2;
    const own = max<f32>(load<f32>(prior + offset), least) * (load<f32>(energy + offset) + LEAST_ENERGY);
    if (!(own > load<f32>(score + offset))) continue;
    store<f32>(score + offset, own);
    const from = pixel(detail, i, channels);
    const to = pixel(data, i, channels);
    if (channels == 3) storePixel(to, v128.load(from));
    else for (let k: usize = 0; k < size; k += 4) store<f32>(to + k, load<f32>(from + k));
  }
}

/** Integers of 8 bits become values in [0, 1]. */
export function scaleBytes(out: usize, values: usize, count: i32): void {
  const white = f32x4.splat(255);
  let i: usize = 0;
  for (; i + 16 <= <usize>count; i += 16) {
    const sixteen = v128.load(values + i);
    const low = i16x8.extend_low_i8x16_u(sixteen);
    const high = i16x8.extend_high_i8x16_u(sixteen);
    const to = out + (i << 2);
    v128.store(to, f32x4.div(f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(low)), white));
    v128.store(to, f32x4.div(f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(low)), white), 16);
    v128.store(to, f32x4.div(f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(high)), white), 32);
    v128.store(to, f32x4.div(f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(high)), white), 48);
  }
  for (; i < <usize>count; i++) store<f32>(out + (i << 2), <f32>load<u8>(values + i) / 255);
}

/** The same for 16 bits. */
export function scaleShorts(out: usize, values: usize, count: i32): void {
  const white = f32x4.splat(65535);
  let i: usize = 0;
  for (; i + 8 <= <usize>count; i += 8) {
    const eight = v128.load(values + (i << 1));
    const to = out + (i << 2);
    v128.store(to, f32x4.div(f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(eight)), white));
    v128.store(to, f32x4.div(f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(eight)), white), 16);
  }
  for (; i < <usize>count; i++) store<f32>(out + (i << 2), <f32>load<u16>(values + (i << 1)) / 65535);
}

/** Value and slopes, times `half`, of the pixels of a map in these columns and rows. */
export function samplePoints(
  value: usize,
  slopeX: usize,
  slopeY: usize,
  map: usize,
  width: i32,
  columnAt: usize,
  columns: i32,
  rowAt: usize,
  rows: i32,
  half: f32,
): void {
  const line = (<usize>width) << 2;
  let i: usize = 0;
  for (let r = 0; r < rows; r++) {
    const row = map + <usize>load<u32>(rowAt + ((<usize>r) << 2)) * line;
    for (let c = 0; c < columns; c++, i += 4) {
      const at = row + ((<usize>load<u32>(columnAt + ((<usize>c) << 2))) << 2);
      store<f32>(value + i, load<f32>(at));
      store<f32>(slopeX + i, (load<f32>(at, 4) - load<f32>(at - 4)) * half);
      store<f32>(slopeY + i, (load<f32>(at + line) - load<f32>(at - line)) * half);
    }
  }
}

/** Blocks per side of the points of a level; `bounds` holds where each begins in a row of points, and the end. */
const BLOCKS: i32 = 8;

/** All bits of the lanes whose index is below `count`. */
function firstLanes(count: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count));
}

function sumOf(four: v128): f64 {
  return (
    <f64>f32x4.extract_lane(four, 0) +
    <f64>f32x4.extract_lane(four, 1) +
    <f64>f32x4.extract_lane(four, 2) +
    <f64>f32x4.extract_lane(four, 3)
  );
}

function addTo(at: usize, four: v128): void {
  store<f64>(at, load<f64>(at) + sumOf(four));
}

/**
 * The map at the place that each point p moves to, bilinear, minus the value of the point; NaN outside. The point in column i and row j of the
 * map moves by (a + ib) p + (shiftX, shiftY), p = (xs[i], ys[j]): the shift is kept apart from the place, to the precision of a small number.
 * `sums` holds per block the f64 sums of sample · value, value² and sample² over the points inside; returns how many these are. Writes up to
 * three numbers beyond the last difference.
 */
export function comparePoints(
  difference: usize,
  sums: usize,
  xs: usize,
  ys: usize,
  bounds: usize,
  rowBlocks: usize,
  columns: i32,
  rows: i32,
  columnAt: usize,
  rowAt: usize,
  value: usize,
  map: usize,
  width: i32,
  height: i32,
  a: f64,
  b: f64,
  shiftX: f64,
  shiftY: f64,
): i32 {
  const zero = f32x4.splat(0);
  const nan = f32x4.splat(f32.NaN);
  const none = i32x4.splat(0);
  const lastX = i32x4.splat(width - 1);
  const lastY = i32x4.splat(height - 1);
  const alpha = f32x4.splat(<f32>a);
  const beta = f32x4.splat(<f32>b);
  const stride = i32x4.splat(width);
  const line = (<usize>width) << 2;
  let inside = none;
  for (let r = 0; r < rows; r++) {
    const y = <f64>load<f32>(ys + ((<usize>r) << 2));
    const u0 = f32x4.splat(<f32>(shiftX - b * y));
    const v0 = f32x4.splat(<f32>(shiftY + a * y));
    const place = i32x4.splat(load<u32>(rowAt + ((<usize>r) << 2)));
    const own = (<usize>(r * columns)) << 2;
    const block = load<u32>(rowBlocks + ((<usize>r) << 2)) * BLOCKS;
    for (let k = 0; k < BLOCKS; k++) {
      const from = <i32>load<u32>(bounds + ((<usize>k) << 2));
      const to = <i32>load<u32>(bounds + ((<usize>k) << 2), 4);
      let product = zero;
      let squares = zero;
      let others = zero;
      for (let c = from; c < to; c += 4) {
        const at = (<usize>c) << 2;
        const x = v128.load(xs + at);
        const u = f32x4.add(f32x4.mul(alpha, x), u0);
        const v = f32x4.add(f32x4.mul(beta, x), v0);
        const left = f32x4.floor(u);
        const above = f32x4.floor(v);
        const column = i32x4.add(v128.load(columnAt + at), i32x4.trunc_sat_f32x4_s(left));
        const row = i32x4.add(place, i32x4.trunc_sat_f32x4_s(above));
        const isIn = v128.and(
          v128.and(v128.and(i32x4.ge_s(column, none), i32x4.lt_s(column, lastX)), v128.and(i32x4.ge_s(row, none), i32x4.lt_s(row, lastY))),
          firstLanes(to - c),
        );
        const index = v128.and(i32x4.add(i32x4.mul(row, stride), column), isIn);
        const p = map + ((<usize>i32x4.extract_lane(index, 0)) << 2);
        const q = map + ((<usize>i32x4.extract_lane(index, 1)) << 2);
        const s = map + ((<usize>i32x4.extract_lane(index, 2)) << 2);
        const t = map + ((<usize>i32x4.extract_lane(index, 3)) << 2);
        const upper1 = v128.load64_lane(q, v128.load64_zero(p), 1);
        const upper2 = v128.load64_lane(t, v128.load64_zero(s), 1);
        const lower1 = v128.load64_lane(q + line, v128.load64_zero(p + line), 1);
        const lower2 = v128.load64_lane(t + line, v128.load64_zero(s + line), 1);
        const upperLeft = i8x16.shuffle(upper1, upper2, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
        const upperRight = i8x16.shuffle(upper1, upper2, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
        const lowerLeft = i8x16.shuffle(lower1, lower2, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
        const lowerRight = i8x16.shuffle(lower1, lower2, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
        const right = f32x4.sub(u, left);
        const top = f32x4.add(upperLeft, f32x4.mul(f32x4.sub(upperRight, upperLeft), right));
        const bottom = f32x4.add(lowerLeft, f32x4.mul(f32x4.sub(lowerRight, lowerLeft), right));
        const sample = v128.and(f32x4.add(top, f32x4.mul(f32x4.sub(bottom, top), f32x4.sub(v, above))), isIn);
        const mine = v128.and(v128.load(value + own + at), isIn);
        v128.store(difference + own + at, v128.bitselect(f32x4.sub(sample, mine), nan, isIn)); // lanes beyond `to` follow
        inside = i32x4.sub(inside, isIn);
        product = f32x4.add(product, f32x4.mul(sample, mine));
        squares = f32x4.add(squares, f32x4.mul(mine, mine));
        others = f32x4.add(others, f32x4.mul(sample, sample));
      }
      const sum = sums + ((<usize>((block + k) * 3)) << 3);
      addTo(sum, product);
      addTo(sum + 8, squares);
      addTo(sum + 16, others);
    }
  }
  return i32x4.extract_lane(inside, 0) + i32x4.extract_lane(inside, 1) + i32x4.extract_lane(inside, 2) + i32x4.extract_lane(inside, 3);
}

/**
 * Adds to the fourteen f64 sums of each block the products of the derivatives by (a, b, x, y) and of these with the difference, weighted by
 * share / (1 - share²) / (1 + (difference · narrow)²). Points whose difference is NaN are left out.
 */
export function accumulatePoints(
  blocks: usize,
  difference: usize,
  xs: usize,
  ys: usize,
  bounds: usize,
  rowBlocks: usize,
  columns: i32,
  rows: i32,
  slopeX: usize,
  slopeY: usize,
  shares: usize,
  narrow: f32,
  perRadius: f32,
): void {
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  const sharpness = f32x4.splat(narrow);
  const scale = f32x4.splat(perRadius);
  for (let r = 0; r < rows; r++) {
    const y = v128.load32_splat(ys + ((<usize>r) << 2));
    const own = (<usize>(r * columns)) << 2;
    const block = load<u32>(rowBlocks + ((<usize>r) << 2)) * BLOCKS;
    for (let k = 0; k < BLOCKS; k++) {
      const from = <i32>load<u32>(bounds + ((<usize>k) << 2));
      const to = <i32>load<u32>(bounds + ((<usize>k) << 2), 4);
      const rho = load<f32>(shares + ((<usize>(block + k)) << 2));
      const share = f32x4.splat(rho);
      const gain = f32x4.splat(rho / (1 - rho * rho));
      let aa = zero;
      let ab = zero;
      let ax = zero;
      let ay = zero;
      let bb = zero;
      let bx = zero;
      let by = zero;
      let xx = zero;
      let xy = zero;
      let yy = zero;
      let ga = zero;
      let gb = zero;
      let gx = zero;
      let gy = zero;
      for (let c = from; c < to; c += 4) {
        const at = (<usize>c) << 2;
        const given = v128.load(difference + own + at);
        const known = v128.and(f32x4.eq(given, given), firstLanes(to - c));
        const d = v128.and(given, known);
        const far = f32x4.mul(d, sharpness);
        const weight = v128.and(f32x4.div(gain, f32x4.add(one, f32x4.mul(far, far))), known);
        const x = v128.load(xs + at);
        const sx = v128.and(v128.load(slopeX + own + at), known);
        const sy = v128.and(v128.load(slopeY + own + at), known);
        const da = f32x4.mul(f32x4.add(f32x4.mul(sx, x), f32x4.mul(sy, y)), scale);
        const db = f32x4.mul(f32x4.sub(f32x4.mul(sy, x), f32x4.mul(sx, y)), scale);
        const h = f32x4.mul(weight, share);
        const g = f32x4.mul(weight, d);
        const ha = f32x4.mul(h, da);
        const hb = f32x4.mul(h, db);
        const hx = f32x4.mul(h, sx);
        aa = f32x4.add(aa, f32x4.mul(ha, da));
        ab = f32x4.add(ab, f32x4.mul(ha, db));
        ax = f32x4.add(ax, f32x4.mul(ha, sx));
        ay = f32x4.add(ay, f32x4.mul(ha, sy));
        bb = f32x4.add(bb, f32x4.mul(hb, db));
        bx = f32x4.add(bx, f32x4.mul(hb, sx));
        by = f32x4.add(by, f32x4.mul(hb, sy));
        xx = f32x4.add(xx, f32x4.mul(hx, sx));
        xy = f32x4.add(xy, f32x4.mul(hx, sy));
        yy = f32x4.add(yy, f32x4.mul(f32x4.mul(h, sy), sy));
        ga = f32x4.add(ga, f32x4.mul(g, da));
        gb = f32x4.add(gb, f32x4.mul(g, db));
        gx = f32x4.add(gx, f32x4.mul(g, sx));
        gy = f32x4.add(gy, f32x4.mul(g, sy));
      }
      const sums = blocks + ((<usize>((block + k) * 14)) << 3);
      addTo(sums, aa);
      addTo(sums + 8, ab);
      addTo(sums + 16, ax);
      addTo(sums + 24, ay);
      addTo(sums + 32, bb);
      addTo(sums + 40, bx);
      addTo(sums + 48, by);
      addTo(sums + 56, xx);
      addTo(sums + 64, xy);
      addTo(sums + 72, yy);
      addTo(sums + 80, ga);
      addTo(sums + 88, gb);
      addTo(sums + 96, gx);
      addTo(sums + 104, gy);
    }
  }
}

/** `band` = fine - coarse, `energy` = band²; returns the sum of the energies. */
export function bandEnergy(band: usize, energy: usize, fine: usize, coarse: usize, count: i32): f64 {
  const bytes = (<usize>count) << 2;
  let total = f64x2.splat(0);
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    const difference = f32x4.sub(v128.load(fine + i), v128.load(coarse + i));
    const square = f32x4.mul(difference, difference);
    v128.store(band + i, difference);
    v128.store(energy + i, square);
    const upper = i8x16.shuffle(square, square, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    total = f64x2.add(total, f64x2.add(f64x2.promote_low_f32x4(square), f64x2.promote_low_f32x4(upper)));
  }
  let sum = f64x2.extract_lane(total, 0) + f64x2.extract_lane(total, 1);
  for (; i < bytes; i += 4) {
    const difference = load<f32>(fine + i) - load<f32>(coarse + i);
    store<f32>(band + i, difference);
    store<f32>(energy + i, difference * difference);
    sum += <f64>(difference * difference);
  }
  return sum;
}

/** values /= √(strength + floor). */
export function divideByRoot(values: usize, strength: usize, count: i32, floor: f32): void {
  const least = f32x4.splat(floor);
  const bytes = (<usize>count) << 2;
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    const root = f32x4.sqrt(f32x4.add(v128.load(strength + i), least));
    v128.store(values + i, f32x4.div(v128.load(values + i), root));
  }
  for (; i < bytes; i += 4) store<f32>(values + i, load<f32>(values + i) / sqrt<f32>(load<f32>(strength + i) + floor));
}

/** Means of 2×2 pixels of two rows. */
export function halveRow(out: usize, upper: usize, lower: usize, count: i32): void {
  const quarter = f32x4.splat(0.25);
  let x = 0;
  for (; x + 4 <= count; x += 4) {
    const at = (<usize>x) << 3;
    const first = f32x4.add(v128.load(upper + at), v128.load(lower + at));
    const second = f32x4.add(v128.load(upper + at, 16), v128.load(lower + at, 16));
    const even = i8x16.shuffle(first, second, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
    const odd = i8x16.shuffle(first, second, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    v128.store(out + ((<usize>x) << 2), f32x4.mul(quarter, f32x4.add(even, odd)));
  }
  for (; x < count; x++) {
    const at = (<usize>x) << 3;
    const sum = load<f32>(upper + at) + load<f32>(lower + at) + load<f32>(upper + at, 4) + load<f32>(lower + at, 4);
    store<f32>(out + ((<usize>x) << 2), <f32>0.25 * sum);
  }
}

/** `out` = (one − two)². */
export function squaredDifferences(out: usize, one: usize, two: usize, count: i32): void {
  const bytes = (<usize>count) << 2;
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    const difference = f32x4.sub(v128.load(one + i), v128.load(two + i));
    v128.store(out + i, f32x4.mul(difference, difference));
  }
  for (; i < bytes; i += 4) {
    const difference = load<f32>(one + i) - load<f32>(two + i);
    store<f32>(out + i, difference * difference);
  }
}

/** The smallest and largest of the values so far, and in `at`, 32-bit numbers, which plane has the largest. */
export function extendRange(least: usize, most: usize, at: usize, values: usize, count: i32, plane: i32): void {
  const bytes = (<usize>count) << 2;
  const planes = i32x4.splat(plane);
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    const value = v128.load(values + i);
    const high = v128.load(most + i);
    const above = f32x4.gt(value, high);
    v128.store(least + i, f32x4.min(v128.load(least + i), value));
    v128.store(most + i, v128.bitselect(value, high, above));
    v128.store(at + i, v128.bitselect(planes, v128.load(at + i), above));
  }
  for (; i < bytes; i += 4) {
    const value = load<f32>(values + i);
    if (value < load<f32>(least + i)) store<f32>(least + i, value);
    if (value > load<f32>(most + i)) {
      store<f32>(most + i, value);
      store<i32>(at + i, plane);
    }
  }
}

/** Σ (one − two)² over a square whose side is a multiple of 4, in images `width` pixels wide. */
export function squareError(one: usize, two: usize, width: i32, side: i32): f64 {
  const stride = (<usize>width) << 2;
  const bytes = (<usize>side) << 2;
  let sum = f64x2.splat(0);
  for (let y = 0; y < side; y++) {
    let row = f32x4.splat(0);
    for (let x: usize = 0; x < bytes; x += 16) {
      const difference = f32x4.sub(v128.load(one + x), v128.load(two + x));
      row = f32x4.add(row, f32x4.mul(difference, difference));
    }
    const folded = f32x4.add(row, i8x16.shuffle(row, row, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    sum = f64x2.add(sum, f64x2.promote_low_f32x4(folded));
    one += stride;
    two += stride;
  }
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/** In place: √ of the values as shares of `most`; 0 where the share is below `least`. */
export function rootOfShare(values: usize, most: usize, count: i32, least: f32): void {
  const bytes = (<usize>count) << 2;
  const limit = f32x4.splat(least);
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    const share = f32x4.div(v128.load(values + i), v128.load(most + i));
    v128.store(values + i, v128.andnot(f32x4.sqrt(share), f32x4.lt(share, limit)));
  }
  for (; i < bytes; i += 4) {
    const share = load<f32>(values + i) / load<f32>(most + i);
    store<f32>(values + i, share < least ? 0 : Mathf.sqrt(share));
  }
}

/**
 * Adds to each sum the curve at its value: linear between its `knots` places, constant outside them. `start` and `end` are its first and last
 * level, `slopes` those between each place and the next.
 */
export function addCurve(sums: usize, values: usize, count: i32, places: usize, slopes: usize, knots: i32, start: f32, end: f32): void {
  const bytes = (<usize>count + 3) << 2; // the last lanes may be beyond the end
  const last = (<usize>(knots - 1)) << 2;
  const zero = f32x4.splat(0);
  for (let i: usize = 0; i + 16 <= bytes; i += 16) {
    const value = v128.load(values + i);
    let level = f32x4.splat(start);
    for (let k: usize = 0; k < last; k += 4) {
      const from = v128.load32_splat(places + k);
      const way = f32x4.min(f32x4.max(f32x4.sub(value, from), zero), f32x4.sub(v128.load32_splat(places + k, 4), from));
      level = f32x4.add(level, f32x4.mul(way, v128.load32_splat(slopes + k)));
    }
    level = v128.bitselect(f32x4.splat(end), level, f32x4.ge(value, v128.load32_splat(places + last))); // without rounding
    v128.store(sums + i, f32x4.add(v128.load(sums + i), level));
  }
}

/** Mean Σ p_n n, standard deviation of p, and that times the largest p_n at each pixel, in planes; `stride` bytes from a plane of p to the next. */
export function planeMoments(means: usize, deviations: usize, tails: usize, p: usize, stride: i32, planes: i32, count: i32): void {
  const bytes = (<usize>count + 3) << 2; // the last lanes may be beyond the end
  for (let i: usize = 0; i + 16 <= bytes; i += 16) {
    let mean = f32x4.splat(0);
    let largest = v128.load(p + i);
    for (let n = 0; n < planes; n++) {
      const share = v128.load(p + <usize>(n * stride) + i);
      mean = f32x4.add(mean, f32x4.mul(f32x4.splat(<f32>n), share));
      largest = f32x4.max(largest, share);
    }
    let variance = f32x4.splat(0);
    for (let n = 0; n < planes; n++) {
      const off = f32x4.sub(f32x4.splat(<f32>n), mean);
      variance = f32x4.add(variance, f32x4.mul(v128.load(p + <usize>(n * stride) + i), f32x4.mul(off, off)));
    }
    const deviation = f32x4.sqrt(variance);
    v128.store(means + i, mean);
    v128.store(deviations + i, deviation);
    v128.store(tails + i, f32x4.mul(largest, deviation));
  }
}

/**
 * Depth and its standard deviation under p at each pixel. `even` are the focus distances as they are
 * averaged, `distances` as they are, both f64; depth is the mean, or with `isReciprocal` its reciprocal.
 */
export function depthOfPlanes(
  depths: usize,
  spreads: usize,
  p: usize,
  stride: i32,
  planes: i32,
  count: i32,
  even: usize,
  distances: usize,
  isReciprocal: i32,
): void {
  const bytes = (<usize>count) << 2;
  for (let i: usize = 0; i < bytes; i += 4) {
    let sum: f64 = 0;
    for (let n = 0; n < planes; n++) {
      const share = load<f32>(p + <usize>(n * stride) + i);
      sum += <f64>share * load<f64>(even + ((<usize>n) << 3));
    }
    const depth = isReciprocal ? 1 / sum : sum;
    let square: f64 = 0;
    for (let n = 0; n < planes; n++) {
      const off = load<f64>(distances + ((<usize>n) << 3)) - depth;
      square += <f64>load<f32>(p + <usize>(n * stride) + i) * (off * off);
    }
    store<f32>(depths + i, <f32>depth);
    store<f32>(spreads + i, <f32>Math.sqrt(square));
  }
}

/** In place: √(squares − means²), at least 0, in place of the means. */
export function deviations(means: usize, squares: usize, count: i32): void {
  const bytes = (<usize>count + 3) << 2; // the last lanes may be beyond the end
  const zero = f32x4.splat(0);
  for (let i: usize = 0; i + 16 <= bytes; i += 16) {
    const mean = v128.load(means + i);
    v128.store(means + i, f32x4.sqrt(f32x4.max(f32x4.sub(v128.load(squares + i), f32x4.mul(mean, mean)), zero)));
  }
}

/** In place: |one − two| · weight, in place of the first. */
export function weighDistances(one: usize, two: usize, weights: usize, count: i32): void {
  const bytes = (<usize>count + 3) << 2; // the last lanes may be beyond the end
  for (let i: usize = 0; i + 16 <= bytes; i += 16)
    v128.store(one + i, f32x4.mul(f32x4.abs(f32x4.sub(v128.load(one + i), v128.load(two + i))), v128.load(weights + i)));
}

/**
 * Adds to each number of `out` the mean Rec. 601 luma of the next `factor` pixels of a row, of `factor` rows. In double precision: the last bits
 * decide which of two planes that show a detail equally strongly is chosen in the end.
 */
export function addLuma(out: usize, row: usize, count: i32, channels: i32, factor: i32): void {
  const area = <f64>(factor * factor);
  let at = row;
  for (let x = 0; x < count; x++) {
    let sum: f64 = 0;
    for (let k = 0; k < factor; k++) {
      if (channels == 3) {
        sum += 0.299 * <f64>load<f32>(at) + 0.587 * <f64>load<f32>(at, 4) + 0.114 * <f64>load<f32>(at, 8);
        at += 12;
      } else {
        sum += <f64>load<f32>(at);
        at += 4;
      }
    }
    const to = out + ((<usize>x) << 2);
    store<f32>(to, <f32>(<f64>load<f32>(to) + sum / area));
  }
}

/** A row of pixels of three channels as three rows, `apart` bytes from one to the next. */
export function splitPixels(out: usize, row: usize, count: i32, apart: i32): void {
  let x = 0;
  for (; x + 4 <= count; x += 4) {
    const at = pixel(row, x, 3);
    const one = v128.load(at); // r g b r
    const two = v128.load(at, 16); // g b r g
    const three = v128.load(at, 32); // b r g b
    const to = out + ((<usize>x) << 2);
    const reds = i8x16.shuffle(one, two, 0, 1, 2, 3, 12, 13, 14, 15, 24, 25, 26, 27, 0, 1, 2, 3);
    const greens = i8x16.shuffle(one, two, 4, 5, 6, 7, 16, 17, 18, 19, 28, 29, 30, 31, 0, 1, 2, 3);
    const blues = i8x16.shuffle(one, two, 8, 9, 10, 11, 20, 21, 22, 23, 0, 1, 2, 3, 0, 1, 2, 3);
    v128.store(to, i8x16.shuffle(reds, three, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20, 21, 22, 23));
    v128.store(to + <usize>apart, i8x16.shuffle(greens, three, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 24, 25, 26, 27));
    v128.store(to + <usize>(2 * apart), i8x16.shuffle(blues, three, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 28, 29, 30, 31));
  }
  for (; x < count; x++) {
    const at = pixel(row, x, 3);
    const to = out + ((<usize>x) << 2);
    store<f32>(to, load<f32>(at));
    store<f32>(to + <usize>apart, load<f32>(at, 4));
    store<f32>(to + <usize>(2 * apart), load<f32>(at, 8));
  }
}

/** Mean square of one − two in each block of `side` pixels, f64; blocks are in row order. */
export function blockEnergies(energies: usize, one: usize, two: usize, width: i32, columns: i32, rows: i32, side: i32): void {
  const area = <f64>(side * side);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      let sum: f64 = 0;
      for (let y = 0; y < side; y++) {
        const from = (<usize>((row * side + y) * width + column * side)) << 2;
        for (let i = from; i < from + ((<usize>side) << 2); i += 4) {
          const band = <f64>load<f32>(one + i) - <f64>load<f32>(two + i);
          sum += (band * band) / area;
        }
      }
      store<f64>(energies + ((<usize>(row * columns + column)) << 3), sum);
    }
}

/**
 * Mean linear light of each cell of a row of cells, of every `step`th pixel and line; NaN where one of them is at least `clipped`. `table` has the
 * light of `size` + 2 values, f64, linear in between; `row` is the first line of the cells, `width` pixels wide.
 */
export function cellLight(
  out: usize,
  row: usize,
  width: i32,
  channels: i32,
  columns: i32,
  cell: i32,
  step: i32,
  table: usize,
  size: i32,
  clipped: f64,
): void {
  for (let column = 0; column < columns; column++)
    for (let c = 0; c < channels; c++) {
      let sum: f64 = 0;
      let count = 0;
      for (let y = 0; y < cell; y += step)
        for (let x = 0; x < cell; x += step) {
          const value = <f64>load<f32>(pixel(row, y * width + column * cell + x, channels) + ((<usize>c) << 2));
          const place = Math.max(value, 0) * <f64>size;
          const below = Math.floor(place);
          const at = table + ((<usize>min(<i32>below, size)) << 3);
          const light = load<f64>(at);
          sum += value < clipped ? light + (load<f64>(at, 8) - light) * (place - below) : NaN;
          count++;
        }
      store<f32>(pixel(out, column, channels) + ((<usize>c) << 2), <f32>(sum / <f64>count));
    }
}
