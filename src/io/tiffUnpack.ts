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
const CODES = 1 << MOST_BITS;

/**
 * Calls `visit` with every code of TIFF's LZW (TIFF 6.0, section 13) until it returns false: `next` is the code that the string before and one
 * more byte get, `previous` the code before, −1 after the table was cleared. Data may end without saying so, as libtiff takes them.
 */
function walkLzw(packed: Uint8Array, visit: (code: number, next: number, previous: number) => boolean): void {
  let [next, bits, previous] = [END + 1, 9, -1];
  let [held, width] = [0, 0];
  for (const byte of packed) {
    held = ((held << 8) | byte) & 0xfffff; // at most 11 bits are left over from before
    width += 8;
    if (width < bits) continue;
    width -= bits;
    const code = (held >> width) & ((1 << bits) - 1);
    if (code === END) return;
    if (code === CLEAR) {
      [next, bits, previous] = [END + 1, 9, -1];
      continue;
    }
    if (!visit(code, next, previous)) return;
    if (previous >= 0 && next < CODES) next += 1;
    previous = code;
    if (next + 1 >= 1 << bits && bits < MOST_BITS) bits += 1; // TIFF's codes grow one early
  }
}

/** Unpacks TIFF's LZW to `most` bytes at most. A code stands for an earlier string and one more byte: `before` says which, `last` that byte. */
export function unpackLzw(packed: Uint8Array, most: number): Uint8Array<ArrayBuffer> {
  const [before, last, lengths] = [new Uint16Array(CODES), new Uint8Array(CODES), new Uint16Array(CODES)];
  for (let code = 0; code < CLEAR; code++) [last[code], lengths[code]] = [code, 1];
  const block = new Block(most);
  walkLzw(packed, (code, next, previous) => {
    if (block.isFull) return false;
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
    if (previous >= 0 && next < CODES) [before[next], last[next], lengths[next]] = [previous, first, (lengths[previous] as number) + 1];
    return true;
  });
  return block.content();
}

/** Bytes that TIFF's LZW data unpack to, counted without unpacking; it stops once there are more than `most`. */
export function lzwLength(packed: Uint8Array, most: number): number {
  const lengths = new Float64Array(CODES).fill(1, 0, CLEAR);
  let [total, before] = [0, 0];
  walkLzw(packed, (code, next, previous) => {
    if (previous < 0) before = 0;
    const length = code < next ? (lengths[code] as number) : before + 1;
    if ((total += length) > most) return false;
    if (previous >= 0 && next < CODES) lengths[next] = before + 1; // the string before and one more
    before = length;
    return true;
  });
  return total;
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

/** Bytes that PackBits data unpack to, counted without unpacking; it stops once there are more than `most`. */
export function packBitsLength(bytes: Uint8Array, most: number): number {
  let total = 0;
  for (let at = 0; at < bytes.length && total <= most;) {
    const n = bytes[at] as number;
    total += n < 128 ? n + 1 : n > 128 ? 257 - n : 0;
    at += n < 128 ? n + 2 : n > 128 ? 2 : 1;
  }
  return total;
}
