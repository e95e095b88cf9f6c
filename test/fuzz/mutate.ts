import type { Random } from "../../src/random.ts";

/** Numbers at which sizes, counts and offsets go wrong. */
const EDGES = [
  ...[0, 1, 2, 3, 7, 8, 16, 255, 256, 0x7fff, 0x8000, 0xffff, 0x10000],
  ...[0x3fffffff, 0x40000000, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff, 2 ** 40, 2 ** 53, 2 ** 63],
];
const NUMBERS = ["0", "-1", "1", "0.000001", "1e308", "-1e-320", "99999999999999999999", "4294967296", "1000000000", "NaN", "Infinity", ""];
const LARGEST = 1 << 18;

type Change = (bytes: Uint8Array<ArrayBuffer>, random: Random, others: readonly Uint8Array[]) => Uint8Array<ArrayBuffer>;

/** One to six changes of a good file, most of them to what may be a length, a count or an offset. */
export function mutate(seeds: readonly Uint8Array[], random: Random): Uint8Array<ArrayBuffer> {
  let bytes = new Uint8Array(pick(random, seeds));
  for (let change = 1 + random.integer(6); change > 0; change--) bytes = pick(random, CHANGES)(bytes, random, seeds);
  return bytes.length > LARGEST ? bytes.slice(0, LARGEST) : bytes;
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random.integer(list.length)] as T;

/** Somewhere in the file; in its first bytes, where headers are, as often as in the rest. */
const anywhere = (length: number, random: Random): number => random.integer(random.uniform() < 0.5 ? Math.min(length, 512) : length);

/** A place whose bytes, read as a number in one of the usual ways, are a length or an offset within the file. */
function lengthLike(bytes: Uint8Array, random: Random): { at: number; width: number; little: boolean } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let attempt = 0; attempt < 40; attempt++) {
    const [at, width, little] = [anywhere(bytes.length, random), pick(random, [2, 4, 4, 8]), random.uniform() < 0.6];
    if (at + width > bytes.length) continue;
    const value = readNumber(view, at, { width, little });
    if (value > 0 && value <= bytes.length) return { at, width, little };
  }
  return { at: anywhere(bytes.length, random), width: 1, little: true };
}

function readNumber(view: DataView, at: number, { width, little }: { width: number; little: boolean }): number {
  if (width === 2) return view.getUint16(at, little);
  return width === 4 ? view.getUint32(at, little) : Number(view.getBigUint64(at, little));
}

function writeNumber(bytes: Uint8Array, at: number, { width, little, value }: { width: number; little: boolean; value: number }): void {
  let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)));
  for (let i = 0; i < width; i++, rest >>= 8n) {
    const place = at + (little ? i : width - 1 - i);
    if (place < bytes.length) bytes[place] = Number(rest & 255n);
  }
}

const setLength: Change = (bytes, random) => {
  const { at, width, little } = lengthLike(bytes, random);
  const near = [bytes.length, bytes.length - 1, bytes.length + 1, bytes.length - at];
  const value = random.uniform() < 0.7 ? pick(random, EDGES) : pick(random, near);
  writeNumber(bytes, at, { width, little, value });
  return bytes;
};

const setByte: Change = (bytes, random) => {
  bytes[anywhere(bytes.length, random)] = random.integer(256);
  return bytes;
};

const flipBit: Change = (bytes, random) => {
  const at = anywhere(bytes.length, random);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(8));
  return bytes;
};

const cut: Change = (bytes, random) => bytes.slice(0, anywhere(bytes.length, random));

const remove: Change = (bytes, random) => {
  const from = anywhere(bytes.length, random);
  return joined(bytes.subarray(0, from), bytes.subarray(from + 1 + random.integer(64)));
};

const repeat: Change = (bytes, random) => {
  const from = anywhere(bytes.length, random);
  const part = bytes.subarray(from, from + 1 + random.integer(64));
  const times = Math.min(pick(random, [1, 2, 20, 2000]), Math.floor(LARGEST / Math.max(1, part.length)));
  return joined(bytes.subarray(0, from), ...Array.from({ length: times }, () => part), bytes.subarray(from));
};

const splice: Change = (bytes, random, others) => {
  const other = pick(random, others);
  return joined(bytes.subarray(0, anywhere(bytes.length, random)), other.subarray(anywhere(other.length, random)));
};

/** A number written in digits becomes another. */
const setDigits: Change = (bytes, random) => {
  const text = Buffer.from(bytes).toString("latin1", 0, 1 << 16);
  const numbers = Array.from(text.matchAll(/\d+(\.\d+)?/g));
  if (numbers.length === 0) return setLength(bytes, random, []);
  const { index, 0: digits } = pick(random, numbers);
  return joined(bytes.subarray(0, index), Buffer.from(pick(random, NUMBERS)), bytes.subarray(index + digits.length));
};

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(parts));
}

const CHANGES: readonly Change[] = [setLength, setLength, setLength, setLength, setByte, flipBit, cut, remove, repeat, splice, setDigits];
