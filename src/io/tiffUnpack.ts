/** Collects bytes until there are `most`: a block holds no more than its pixels, whatever its data unpack to. */
class Block {
  bytes = new Uint8Array(1 << 16);
  length = 0;
  readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  get isFull(): boolean {
    return this.length >= this.most;
  }

  /** Room for so many bytes more. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.length + count, Math.min(2 * this.bytes.length, this.most)));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  content(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, Math.min(this.length, this.most));
  }
}

const CLEAR = 256;
const END = 257;
const MOST_BITS = 12;

/**
 * Unpacks TIFF's LZW (TIFF 6.0, section 13) to `most` bytes at most. A code stands for an earlier string and one more byte: `before` says which,
 * `last` that byte. Data may end without saying so, as libtiff takes them.
 */
export function unpackLzw(packed: Uint8Array, most: number): Uint8Array<ArrayBuffer> {
  const [before, last, lengths] = [new Uint16Array(1 << MOST_BITS), new Uint8Array(1 << MOST_BITS), new Uint16Array(1 << MOST_BITS)];
  for (let code = 0; code < CLEAR; code++) [last[code], lengths[code]] = [code, 1];
  const block = new Block(most);
  let [next, bits, previous] = [END + 1, 9, -1];
  let [held, width] = [0, 0];
  for (const byte of packed) {
    held = ((held << 8) | byte) & 0xfffff; // at most 11 bits are left over from before
    width += 8;
    if (width < bits) continue;
    width -= bits;
    const code = (held >> width) & ((1 << bits) - 1);
    if (code === END || block.isFull) break;
    if (code === CLEAR) {
      [next, bits, previous] = [END + 1, 9, -1];
      continue;
    }
    const isNew = code === next && previous >= 0; // the string before and its own first byte
    if (code >= next && !isNew) throw new RangeError("its LZW data are damaged");
    const known = isNew ? previous : code;
    const length = lengths[known] as number;
    block.reserve(length + 1);
    const { bytes, length: start } = block;
    for (let at = start + length - 1, string = known; at >= start; at--, string = before[string] as number)
      bytes[at] = last[string] as number;
    const first = bytes[start] as number;
    if (isNew) bytes[start + length] = first;
    block.length += isNew ? length + 1 : length;
    if (previous >= 0 && next < 1 << MOST_BITS) {
      [before[next], last[next], lengths[next]] = [previous, first, (lengths[previous] as number) + 1];
      next += 1;
    }
    previous = code;
    if (next + 1 >= 1 << bits && bits < MOST_BITS) bits += 1; // TIFF's codes grow one early
  }
  return block.content();
}

/** Unpacks PackBits to `most` bytes at most: n < 128 stands before n + 1 bytes, n > 128 before one byte that is repeated 257 − n times. */
export function unpackPackBits(packed: Uint8Array, most: number): Uint8Array<ArrayBuffer> {
  const block = new Block(most);
  for (let at = 0; at < packed.length && !block.isFull;) {
    const n = packed[at++] as number;
    if (n === 128) continue;
    const count = n < 128 ? n + 1 : 257 - n;
    block.reserve(count);
    if (n < 128) block.bytes.set(packed.subarray(at, at + count), block.length);
    else block.bytes.fill(packed[at] ?? 0, block.length, block.length + count);
    block.length += count;
    at += n < 128 ? count : 1;
  }
  return block.content();
}
