const CLEAR = 256;
const END = 257;
const MOST_BITS = 12;

/** Bytes that TIFF's LZW data unpack to, counted without unpacking; it stops once there are more than `most`. */
export function lzwLength(bytes: Uint8Array, most: number): number {
  const lengths = new Float64Array(1 << MOST_BITS).fill(1, 0, CLEAR);
  let [next, bits, total, previous] = [END + 1, 9, 0, 0];
  let [held, width] = [0, 0];
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfffff; // at most 11 bits are left over from before
    width += 8;
    if (width < bits) continue;
    width -= bits;
    const code = (held >> width) & ((1 << bits) - 1);
    if (code === END) break;
    if (code === CLEAR) {
      [next, bits, previous] = [END + 1, 9, 0];
      continue;
    }
    const length = code < next ? (lengths[code] as number) : previous + 1;
    if ((total += length) > most) break;
    if (previous > 0 && next < lengths.length) lengths[next++] = previous + 1; // the string before and one more
    previous = length;
    if (next + 1 >= 1 << bits && bits < MOST_BITS) bits += 1; // TIFF's codes grow one early
  }
  return total;
}

/** The same for PackBits: n < 128 stands before n + 1 bytes, n > 128 before one byte that is repeated 257 − n times. */
export function packBitsLength(bytes: Uint8Array, most: number): number {
  let total = 0;
  for (let at = 0; at < bytes.length && total <= most;) {
    const n = bytes[at] as number;
    total += n < 128 ? n + 1 : n > 128 ? 257 - n : 0;
    at += n < 128 ? n + 2 : n > 128 ? 2 : 1;
  }
  return total;
}
