/** A field of a directory, as right or wrong as asked. Values of up to four bytes (eight in BigTIFF) are in the field itself. */
export interface Field {
  readonly tag: number;
  readonly type: number;
  readonly count?: number;
  /** The value, or where the values are said to be. */
  readonly value: number;
}

interface Layout {
  readonly big?: boolean;
  /** Where the last directory says that the next one is. */
  readonly last?: number;
  /** Bytes after the directories. */
  readonly after?: number;
}

/** The directories of a little-endian TIFF, one after the other, and zeros after them. */
export function rawTiff(
  directories: readonly (readonly Field[])[],
  { big = false, last = 0, after = 0 }: Layout = {},
): Uint8Array<ArrayBuffer> {
  const [head, countBytes, entry, pointer] = big ? [16, 8, 20, 8] : [8, 2, 12, 4];
  const lengths = directories.map((fields) => countBytes + entry * fields.length + pointer);
  const bytes = new Uint8Array(head + lengths.reduce((sum, length) => sum + length, 0) + after);
  const view = new DataView(bytes.buffer);
  const word = (at: number, value: number): void => {
    if (big) view.setBigUint64(at, BigInt(value), true);
    else view.setUint32(at, value, true);
  };
  bytes.set(big ? [0x49, 0x49, 43, 0, 8, 0, 0, 0] : [0x49, 0x49, 42, 0]);
  word(big ? 8 : 4, directories.length > 0 ? head : last);
  let at = head;
  for (const [n, fields] of directories.entries()) {
    if (big) word(at, fields.length);
    else view.setUint16(at, fields.length, true);
    for (const [i, { tag, type, count = 1, value }] of fields.entries()) {
      const start = at + countBytes + entry * i;
      view.setUint16(start, tag, true);
      view.setUint16(start + 2, type, true);
      word(start + 4, count);
      word(start + 4 + pointer, value);
    }
    at += lengths[n] as number;
    word(at - pointer, n + 1 < directories.length ? at : last);
  }
  return bytes;
}

const [SHORT, LONG] = [3, 4];

/** The fields of a grey page of 8 bits; its pixels start at `at`. */
export const greyPage = ({ width = 64, height = 48, at = 200 } = {}): Field[] => [
  { tag: 256, type: LONG, value: width },
  { tag: 257, type: LONG, value: height },
  { tag: 258, type: SHORT, value: 8 },
  { tag: 259, type: SHORT, value: 1 },
  { tag: 262, type: SHORT, value: 1 },
  { tag: 273, type: LONG, value: at },
  { tag: 277, type: SHORT, value: 1 },
  { tag: 278, type: LONG, value: height },
  { tag: 279, type: LONG, value: width * height },
];

/** A good page but for one field. */
export const pageWith = (field: Field): Field[] =>
  [...greyPage().filter(({ tag }) => tag !== field.tag), field].sort((a, b) => a.tag - b.tag);

/** 634 bytes: one field claims 2³⁰ values. What decodes it without a check allocates 4 GB and reads zeros for 20 seconds. */
export function tiffBomb({ tag = 278, type = LONG, count = 0x40000000, big = false } = {}): Uint8Array<ArrayBuffer> {
  const page = pageWith({ tag, type, count, value: 8 });
  return rawTiff([page], { big, after: 634 - rawTiff([page], { big }).length });
}
