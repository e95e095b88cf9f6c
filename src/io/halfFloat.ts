/**
 * IEEE binary16 ("f16") and bfloat16 ("bf16") as their 16 bits. JavaScript has neither type on Node 20; both engines and the
 * weights file use them. Narrowing rounds to the nearest, ties to even, as the hardware does.
 */

let halfTable: Float32Array | undefined; // every binary16 value, built on first use

function halfValues(): Float32Array {
  if (halfTable) return halfTable;
  halfTable = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const magnitude = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
    const special = fraction === 0 ? Infinity : NaN;
    halfTable[bits] = (bits & 0x8000 ? -1 : 1) * (exponent === 31 ? special : magnitude);
  }
  return halfTable;
}

/** binary16 bits → floats. */
export function halfToFloat(bits: Uint16Array): Float32Array {
  const table = halfValues();
  const values = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) values[i] = table[bits[i] as number] as number;
  return values;
}

/** Floats → binary16 bits; beyond ±65504 becomes infinite. */
export function floatToHalf(values: ArrayLike<number>): Uint16Array {
  const words = floatWords(values);
  const bits = new Uint16Array(words.length);
  for (let i = 0; i < words.length; i++) bits[i] = narrow(words[i] as number);
  return bits;
}

/** One binary32 word → one binary16 word. */
function narrow(word: number): number {
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x47800000) return sign | 0x7c00; // 65536 and more
  if (magnitude >= 0x38800000) return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
  if (magnitude < 0x33000000) return sign; // less than half the smallest binary16
  const shift = 126 - (magnitude >>> 23); // to units of 2⁻²⁴
  const significand = (magnitude & 0x7fffff) | 0x800000;
  const whole = significand >>> shift;
  const rest = significand & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return sign | (whole + (rest > half || (rest === half && whole & 1) ? 1 : 0));
}

/** bfloat16 bits → floats, exact. */
export function bfloatToFloat(bits: Uint16Array): Float32Array {
  const words = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) words[i] = (bits[i] as number) << 16;
  return new Float32Array(words.buffer);
}

/** Floats → bfloat16 bits. */
export function floatToBfloat(values: ArrayLike<number>): Uint16Array {
  const words = floatWords(values);
  const bits = new Uint16Array(words.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as number;
    const isNaN = (word & 0x7fffffff) > 0x7f800000;
    bits[i] = isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return bits;
}

function floatWords(values: ArrayLike<number>): Uint32Array {
  const floats = values instanceof Float32Array ? values : Float32Array.from(values);
  return new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
}
