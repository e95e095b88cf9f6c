import type { Size } from "../image/image.ts";

export interface GifOptions extends Size {
  /** Time between two frames [s]; files state hundredths. */
  readonly delay: number;
}

/**
 * A GIF that repeats for ever, from frames in RGBA, 8 bits; alpha is ignored. All frames share 256 colours, chosen by median cut from all of
 * them: with a palette for each, smooth areas would flicker. What lies between two colours is mixed by an ordered pattern, which stands
 * still from frame to frame.
 */
export function encodeGif(frames: readonly Uint8ClampedArray[], { width, height, delay }: GifOptions): Uint8Array<ArrayBuffer> {
  if (width < 1 || height < 1 || width > 0xffff || height > 0xffff) throw new RangeError(`a GIF cannot be ${width}×${height} pixels`);
  if (frames.length === 0) throw new RangeError("a GIF needs at least one frame");
  const wrong = frames.findIndex(({ length }) => length !== 4 * width * height);
  if (wrong >= 0) throw new RangeError(`frame ${wrong} of the GIF is not ${width}×${height} pixels`);
  const palette = medianCut(frames);
  const nearest = nearestIn(palette);
  const bytes = new ByteList();
  bytes.text("GIF89a");
  bytes.words(width, height);
  bytes.push(0xf7, 0, 0); // a global palette of 256 colours
  for (let i = 0; i < 256; i++) bytes.push(...(palette[i] ?? [0, 0, 0]));
  bytes.push(0x21, 0xff, 11);
  bytes.text("NETSCAPE2.0");
  bytes.push(3, 1, 0, 0, 0); // repeat without end
  for (const frame of frames) {
    bytes.push(0x21, 0xf9, 4, 0);
    bytes.words(Math.max(2, Math.round(100 * delay))); // browsers slow down anything faster
    bytes.push(0, 0);
    bytes.push(0x2c);
    bytes.words(0, 0, width, height);
    bytes.push(0, CODE_BITS);
    compress(indices(frame, width, nearest), bytes);
  }
  bytes.push(0x3b);
  return bytes.whole();
}

type Colour = readonly [number, number, number];

/** Colours are counted in cells of this many bits a channel. */
const BITS = 5;
const CELLS = 1 << (3 * BITS);
const cellOf = (r: number, g: number, b: number): number => ((r >> 3) << 10) | ((g >> 3) << 5) | (b >> 3);

interface Box {
  readonly cells: readonly number[];
  readonly channel: number;
  /** What is gained by splitting it: pixels times the square of its longest side. */
  readonly worth: number;
}

/** Boxes of the colour space are split at the median of their longest side until there are 256; each becomes the mean of its pixels. */
function medianCut(frames: readonly Uint8ClampedArray[]): Colour[] {
  const count = new Float64Array(CELLS);
  const sums = [0, 1, 2].map(() => new Float64Array(CELLS)) as [Float64Array, Float64Array, Float64Array];
  for (const frame of frames)
    for (let i = 0; i < frame.length; i += 4) {
      const cell = cellOf(frame[i] as number, frame[i + 1] as number, frame[i + 2] as number);
      count[cell] = (count[cell] as number) + 1;
      for (const channel of [0, 1, 2] as const) sums[channel][cell] = (sums[channel][cell] as number) + (frame[i + channel] as number);
    }
  const total = (cells: readonly number[], of: Float64Array): number => cells.reduce((sum, cell) => sum + (of[cell] as number), 0);
  const mean = (cell: number, channel: number): number => (sums[channel as 0 | 1 | 2][cell] as number) / (count[cell] as number);
  const box = (cells: readonly number[]): Box => {
    const sides = [0, 1, 2].map((channel) => {
      const values = cells.map((cell) => mean(cell, channel));
      return Math.max(...values) - Math.min(...values);
    });
    const longest = Math.max(...sides);
    return { cells, channel: sides.indexOf(longest), worth: cells.length > 1 ? total(cells, count) * longest ** 2 : 0 };
  };
  const boxes = [box(Array.from({ length: CELLS }, (_, cell) => cell).filter((cell) => (count[cell] as number) > 0))];
  while (boxes.length < 256) {
    const at = boxes.reduce((best, { worth }, i) => (worth > (boxes[best] as Box).worth ? i : best), 0);
    const { cells, channel, worth } = boxes[at] as Box;
    if (worth === 0) break;
    const sorted = cells.toSorted((a, b) => mean(a, channel) - mean(b, channel));
    const half = total(sorted, count) / 2;
    let [cut, before] = [0, 0];
    while (cut < sorted.length - 1 && (cut === 0 || before + (count[sorted[cut] as number] as number) <= half)) before += count[sorted[cut++] as number] as number; // prettier-ignore
    boxes.splice(at, 1, box(sorted.slice(0, cut)), box(sorted.slice(cut)));
  }
  return boxes.map(({ cells }) => {
    const pixels = total(cells, count);
    return sums.map((sum) => Math.round(total(cells, sum) / pixels)) as unknown as Colour;
  });
}

/** The palette's nearest colour to that of a cell, remembered. */
function nearestIn(palette: readonly Colour[]): (r: number, g: number, b: number) => number {
  const known = new Int16Array(CELLS).fill(-1);
  const search = (r: number, g: number, b: number): number => {
    let [best, least] = [0, Infinity];
    for (const [i, [pr, pg, pb]] of palette.entries()) {
      const distance = 3 * (r - pr) ** 2 + 6 * (g - pg) ** 2 + (b - pb) ** 2; // roughly as the eye weighs them
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  };
  return (r, g, b) => {
    const cell = cellOf(r, g, b);
    const kept = known[cell] as number;
    if (kept >= 0) return kept;
    const found = search((r & ~7) + 4, (g & ~7) + 4, (b & ~7) + 4);
    known[cell] = found;
    return found;
  };
}

/** Bayer's 4×4 pattern. */
const PATTERN = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];
/** Levels of 255 from the least to the greatest of the pattern: about as far apart as two colours of the palette are. */
const SPREAD = 8;

function indices(frame: Uint8ClampedArray, width: number, nearest: ReturnType<typeof nearestIn>): Uint8Array {
  const out = new Uint8Array(frame.length / 4);
  const shifted = (value: number, shift: number): number => Math.min(255, Math.max(0, value + shift));
  for (let i = 0; i < out.length; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    const shift = Math.round(SPREAD * (((PATTERN[(y & 3) * 4 + (x & 3)] as number) + 0.5) / 16 - 0.5));
    out[i] = nearest(
      shifted(frame[4 * i] as number, shift),
      shifted(frame[4 * i + 1] as number, shift),
      shifted(frame[4 * i + 2] as number, shift),
    );
  }
  return out;
}

const CODE_BITS = 8;
const CLEAR = 1 << CODE_BITS;
const MOST_CODES = 4096;

/** LZW as GIF has it: codes grow from 9 to 12 bits, lowest bit first, in blocks of at most 255 bytes. */
function compress(values: Uint8Array, into: ByteList): void {
  const blocks = new BlockWriter(into);
  const follows = new Uint16Array(MOST_CODES << CODE_BITS); // code and next value → longer code
  let [next, bits] = [CLEAR + 2, CODE_BITS + 1];
  blocks.write(CLEAR, bits);
  let code = values[0] as number;
  for (let i = 1; i < values.length; i++) {
    const value = values[i] as number;
    const longer = follows[(code << CODE_BITS) | value] as number;
    if (longer > 0) {
      code = longer;
      continue;
    }
    blocks.write(code, bits);
    if (next < MOST_CODES) {
      if (next === 1 << bits) bits += 1;
      follows[(code << CODE_BITS) | value] = next++;
    } else {
      blocks.write(CLEAR, bits);
      follows.fill(0);
      [next, bits] = [CLEAR + 2, CODE_BITS + 1];
    }
    code = value;
  }
  blocks.write(code, bits);
  if (next === 1 << bits && bits < 12) bits += 1; // the reader has added a code by now
  blocks.write(CLEAR + 1, bits);
  blocks.end();
}

/** Codes of any number of bits as blocks of bytes. */
class BlockWriter {
  #held = 0;
  #bits = 0;
  readonly #block: number[] = [];
  readonly #into: ByteList;

  constructor(into: ByteList) {
    this.#into = into;
  }

  write(code: number, bits: number): void {
    this.#held |= code << this.#bits;
    this.#bits += bits;
    for (; this.#bits >= 8; this.#bits -= 8, this.#held >>>= 8) this.#byte(this.#held & 255);
  }

  end(): void {
    if (this.#bits > 0) this.#byte(this.#held & 255);
    this.#flush();
    this.#into.push(0);
  }

  #byte(value: number): void {
    this.#block.push(value);
    if (this.#block.length === 255) this.#flush();
  }

  #flush(): void {
    if (this.#block.length > 0) this.#into.push(this.#block.length, ...this.#block);
    this.#block.length = 0;
  }
}

/** Bytes that grow. */
class ByteList {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

  push(...values: number[]): void {
    if (this.#length + values.length > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#bytes.length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** 16 bits each, low byte first. */
  words(...values: number[]): void {
    for (const value of values) this.push(value & 255, value >> 8);
  }

  text(letters: string): void {
    this.push(...new TextEncoder().encode(letters));
  }

  whole(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }
}
