import type { Random } from "../../random.ts";
import { transform } from "./fourier.ts";

export const TEXTURE_SIZE = 256;

const SIZE = TEXTURE_SIZE;
const PIXELS = SIZE * SIZE;

/** Red, green, blue in [0, 1], one plane each. */
interface Canvas {
  readonly channels: readonly [Float32Array, Float32Array, Float32Array];
}
type Painter = (random: Random, canvas: Canvas) => void;
type Colour = readonly [number, number, number];

const between = (random: Random, from: number, to: number): number => from + (to - from) * random.uniform();

/** Any hue and brightness; saturated colours are rarer than dull ones, as in the real world. */
function colour(random: Random): Colour {
  const hue = 6 * random.uniform();
  const saturation = 0.75 * random.uniform() ** 1.8;
  const value = between(random, 0.22, 0.97);
  const channel = (shift: number): number => {
    const k = (hue + shift) % 6;
    return value * (1 - saturation * Math.max(0, Math.min(k, 4 - k, 1)));
  };
  return [channel(5), channel(3), channel(1)];
}

/** Paints texture `index` as RGBA bytes. The kinds alternate, so any range of indices is varied. */
export function paintTexture(random: Random, index: number, out: Uint8Array): void {
  const canvas: Canvas = { channels: [new Float32Array(PIXELS), new Float32Array(PIXELS), new Float32Array(PIXELS)] };
  (PAINTERS[index % PAINTERS.length] as Painter)(random, canvas);
  out.fill(255);
  for (const [c, channel] of canvas.channels.entries())
    for (let i = 0; i < PIXELS; i++) out[4 * i + c] = Math.floor(255 * Math.min(Math.max(channel[i] as number, 0), 1) + 0.5);
}

/** Two fields of noise whose amplitude falls as frequency^-slope, mean 0, deviation 1. They tile. `stretch` elongates them along one axis. */
function spectralNoise(random: Random, { slope, stretch = 1 }: { slope: number; stretch?: number }): readonly [Float32Array, Float32Array] {
  const real = new Float64Array(PIXELS);
  const imaginary = new Float64Array(PIXELS);
  const amplitudes = quarterOfAmplitudes({ slope, stretch });
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < SIZE; x++) {
      const amplitude = amplitudes[Math.min(y, SIZE - y) * QUARTER + Math.min(x, SIZE - x)] as number;
      real[y * SIZE + x] = amplitude * (random.uniform() - 0.5);
      imaginary[y * SIZE + x] = amplitude * (random.uniform() - 0.5);
    }
  transform(real, imaginary, SIZE); // without symmetry, real and imaginary parts are independent fields
  return [normalised(real), normalised(imaginary)];
}

/** Frequencies of either sign have the same amplitude: those from 0 to SIZE / 2 are enough. */
const QUARTER = SIZE / 2 + 1;

function quarterOfAmplitudes({ slope, stretch }: { slope: number; stretch: number }): Float64Array {
  const amplitudes = new Float64Array(QUARTER * QUARTER); // 0 at frequency 0
  for (let i = 1; i < amplitudes.length; i++) {
    const fx = i % QUARTER;
    const fy = Math.floor(i / QUARTER) * stretch;
    amplitudes[i] = Math.exp(-0.5 * slope * Math.log(fx * fx + fy * fy));
  }
  return amplitudes;
}

function normalised(values: Float64Array): Float32Array {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] as number) ** 2;
  const factor = 1 / Math.sqrt(sum / values.length);
  const out = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = (values[i] as number) * factor;
  return out;
}

/** A base colour with coloured noise. */
function noisy(random: Random, canvas: Canvas, { contrast, slope }: { contrast: number; slope: number }): void {
  const base = colour(random);
  const [common, second] = spectralNoise(random, { slope, stretch: random.uniform() < 0.3 ? between(random, 2, 8) : 1 });
  canvas.channels.forEach((channel, c) => {
    const [a, b] = [between(random, 0.7, 1.1), between(random, -0.6, 0.6)];
    for (let i = 0; i < PIXELS; i++) channel[i] = (base[c] as number) + contrast * (a * (common[i] as number) + b * (second[i] as number));
  });
}

/** Paints `tone` where `mask(x, y)` is true. */
function overlay(canvas: Canvas, mask: (x: number, y: number) => boolean, tone: Colour): void {
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < SIZE; x++) {
      if (!mask(x, y)) continue;
      canvas.channels.forEach((channel, c) => (channel[y * SIZE + x] = tone[c] as number));
    }
}

const noise: Painter = (random, canvas) => {
  noisy(random, canvas, { contrast: between(random, 0.05, 0.25), slope: between(random, 0.4, 1.6) });
};

const weak: Painter = (random, canvas) => {
  noisy(random, canvas, { contrast: between(random, 0.006, 0.03), slope: between(random, 0.3, 1.2) });
};

const stripes: Painter = (random, canvas) => {
  noise(random, canvas);
  const period = 2 ** (3 + random.integer(4));
  const width = period * between(random, 0.25, 0.75);
  const skew = random.integer(3) - 1; // whole periods over the image, so that it tiles
  const wave = between(random, 0, 6);
  overlay(canvas, (x, y) => (x + skew * y + wave * Math.sin((2 * Math.PI * y) / SIZE) + 4 * SIZE) % period < width, colour(random));
};

const checker: Painter = (random, canvas) => {
  noise(random, canvas);
  const side = 2 ** (2 + random.integer(4));
  overlay(canvas, (x, y) => (Math.floor(x / side) + Math.floor(y / side)) % 2 === 0, colour(random));
};

const cells: Painter = (random, canvas) => {
  noisy(random, canvas, { contrast: between(random, 0.03, 0.12), slope: 0.8 });
  const count = 12 + random.integer(90);
  const [xs, ys] = [0, 1].map(() => Float32Array.from({ length: count }, () => random.uniform() * SIZE)) as [Float32Array, Float32Array];
  const tones = Array.from({ length: count }, () => colour(random));
  const joint = random.uniform() < 0.5 ? between(random, 1, 5) : 0; // mortar between the cells
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < SIZE; x++) {
      let nearest = Infinity;
      let second = Infinity;
      let best = 0;
      for (let k = 0; k < count; k++) {
        const dx = Math.abs((xs[k] as number) - x);
        const dy = Math.abs((ys[k] as number) - y);
        const d = Math.min(dx, SIZE - dx) ** 2 + Math.min(dy, SIZE - dy) ** 2;
        if (d < nearest) {
          second = nearest;
          nearest = d;
          best = k;
        } else if (d < second) second = d;
      }
      if (Math.sqrt(second) - Math.sqrt(nearest) < joint) continue;
      const tone = tones[best] as Colour;
      for (let c = 0; c < 3; c++) {
        const channel = canvas.channels[c] as Float32Array;
        channel[y * SIZE + x] = 0.75 * (tone[c] as number) + 0.25 * (channel[y * SIZE + x] as number);
      }
    }
};

const blobs: Painter = (random, canvas) => {
  noise(random, canvas);
  const [field] = spectralNoise(random, { slope: between(random, 1, 2) });
  const level = between(random, -0.6, 0.6);
  overlay(canvas, (x, y) => (field[y * SIZE + x] as number) > level, colour(random));
};

/** Lines of short strokes, like print: paper, margins, words, letters of two to four strokes. */
const glyphs: Painter = (random, canvas) => {
  const paper = between(random, 0.75, 0.95);
  const dark = random.uniform() < 0.8;
  noisy(random, canvas, { contrast: 0.015, slope: 0.8 });
  overlay(canvas, () => true, dark ? [paper, paper, paper * between(random, 0.85, 1)] : [0.12, 0.14, 0.2]);
  const ink: Colour = dark ? [0.08, 0.08, 0.12] : [0.9, 0.85, 0.7];
  const height = 5 + random.integer(12);
  const stroke = Math.max(1, Math.round(height / 7));
  const bar = (x0: number, y0: number, w: number, h: number): void => {
    for (let y = y0; y < Math.min(y0 + h, SIZE); y++)
      for (let x = x0; x < Math.min(x0 + w, SIZE); x++) canvas.channels.forEach((channel, c) => (channel[y * SIZE + x] = ink[c] as number));
  };
  for (let top = 6; top + height < SIZE; top += Math.round(height * 1.7)) {
    const end = random.uniform() < 0.2 ? SIZE * between(random, 0.3, 0.8) : SIZE - 8;
    for (let left = 8; left + height < end; left += Math.round(height * 0.75)) {
      if (random.uniform() < 0.17) continue; // space between words
      const width = Math.round(height * 0.55);
      for (let s = 2 + random.integer(3); s > 0; s--) {
        if (random.uniform() < 0.5) bar(left + random.integer(2) * (width - stroke), top, stroke, height);
        else bar(left, top + random.integer(3) * ((height - stroke) >> 1), width, stroke);
      }
    }
  }
};

/** Rectangles of all sizes: parts on a board, books, windows. */
const patches: Painter = (random, canvas) => {
  noisy(random, canvas, { contrast: between(random, 0.01, 0.06), slope: 0.9 });
  for (let n = 60 + random.integer(160); n > 0; n--) {
    const [left, top] = [random.integer(SIZE), random.integer(SIZE)];
    const [width, height] = [1 + random.integer(28), 1 + random.integer(16)];
    const tone = colour(random);
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const i = ((top + y) % SIZE) * SIZE + ((left + x) % SIZE);
        canvas.channels.forEach((channel, c) => (channel[i] = tone[c] as number));
      }
  }
};

/** Rings distorted by noise: wood, marble. */
const grain: Painter = (random, canvas) => {
  const [field] = spectralNoise(random, { slope: 1.8, stretch: between(random, 1, 10) });
  const [fine] = spectralNoise(random, { slope: 0.7, stretch: 6 });
  const [light, dark] = [colour(random), colour(random)];
  const turns = between(random, 2, 9);
  for (let i = 0; i < PIXELS; i++) {
    const mix = 0.5 + 0.5 * Math.sin(turns * (field[i] as number)) + 0.12 * (fine[i] as number);
    canvas.channels.forEach((channel, c) => (channel[i] = 0.15 + 0.7 * ((light[c] as number) * mix + (dark[c] as number) * (1 - mix))));
  }
};

const PAINTERS: readonly Painter[] = [noise, stripes, blobs, weak, glyphs, cells, noise, checker, grain, weak, patches, noise];

/** Whether texture `index` has contrast everywhere, nowhere a single tone. */
export const isDense = (index: number): boolean => [noise, grain].includes(PAINTERS[index % PAINTERS.length] as Painter);
