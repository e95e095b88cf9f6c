/** Bytes that are read piece by piece: a file on a disk, one a person gave to the page, or memory. */
export interface ByteSource {
  readonly size: number;
  /** The bytes from `offset` on; fewer than `length` only where the source ends. */
  readonly read: (offset: number, length: number) => Promise<Uint8Array>;
}

export const memorySource = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
});

/** Bytes of one value, by the type of its field. */
const TYPE_BYTES: Readonly<Record<number, number>> = {
  ...{ 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4 },
  ...{ 16: 8, 17: 8, 18: 8 }, // BigTIFF
};
const UNSIGNED = [1, 3, 4, 16]; // BYTE, SHORT, LONG, LONG8

/** Fields that are one whole number; a decoder that finds more of them, or text, multiplies what is not a number. */
const SINGLE: Readonly<Record<number, string>> = {
  ...{ 256: "ImageWidth", 257: "ImageLength", 259: "Compression", 262: "PhotometricInterpretation", 277: "SamplesPerPixel" },
  ...{ 278: "RowsPerStrip", 284: "PlanarConfiguration", 322: "TileWidth", 323: "TileLength" },
};
/** Fields that are whole numbers, as many as there are samples, strips or tiles. */
const COUNTED: Readonly<Record<number, string>> = {
  ...{ 258: "BitsPerSample", 273: "StripOffsets", 279: "StripByteCounts", 324: "TileOffsets", 325: "TileByteCounts", 339: "SampleFormat" },
};
const SUB_DIRECTORIES = 330;
/** Tags from here on belong to programs: a value that was lost is no reason to refuse the pixels. */
const FIRST_PRIVATE = 32768;
const MOST_DIRECTORIES = 65_536;
const BLOCK = 1 << 16;

interface Layout {
  readonly little: boolean;
  readonly big: boolean;
  readonly size: number;
  readonly view: (offset: number, length: number) => Promise<DataView>;
}

/**
 * Walks the directories of a TIFF or BigTIFF, sub-directories included, before a decoder does, and throws a RangeError if one of them, or
 * the values it lists, cannot be in a file of this size: decoders allocate what a field's count says. With `pages`, only the directories
 * of that many pages are looked at.
 */
export async function checkTiffDirectories(source: ByteSource, { pages = Infinity }: { readonly pages?: number } = {}): Promise<void> {
  const layout = await openLayout(source);
  const { big, size } = layout;
  const seen = new Set<number>();
  let [directories, values] = [0, 0]; // bytes
  const check = async (offset: number): Promise<Directory> => {
    if (seen.has(offset)) throw new RangeError("its pages lead back to an earlier one");
    if (seen.size >= MOST_DIRECTORIES) throw new RangeError(`it has more than ${MOST_DIRECTORIES} pages`);
    seen.add(offset);
    const directory = await readDirectory(layout, offset);
    if ((directories += directory.bytes) > size) throw new RangeError("its directories overlap");
    if ((values += directory.outside) > size) throw new RangeError(`its fields need more than ${values} bytes, the file has ${size}`);
    return directory;
  };
  let next = await offsetAt(layout, big ? 8 : 4);
  for (let page = 0; next !== 0 && page < pages; page++) {
    const directory = await check(next);
    const below = [...directory.below];
    for (let offset = below.pop(); offset !== undefined; offset = below.pop()) below.push(...(await check(offset)).below);
    next = directory.next;
  }
}

async function openLayout({ size, read }: ByteSource): Promise<Layout> {
  let block = { start: 0, bytes: await read(0, BLOCK) };
  const view = async (offset: number, length: number): Promise<DataView> => {
    if (offset + length > size) throw new RangeError(`it is truncated: a directory at ${offset} is beyond its ${size} bytes`);
    if (offset < block.start || offset + length > block.start + block.bytes.length)
      block = { start: offset, bytes: await read(offset, Math.max(length, BLOCK)) };
    const { bytes, start } = block;
    if (offset - start + length > bytes.length) throw new RangeError("it became shorter while it was read");
    return new DataView(bytes.buffer, bytes.byteOffset + offset - start, length);
  };
  const head = await view(0, 8);
  const little = head.getUint16(0) === 0x4949;
  const big = head.getUint16(2, little) === 43;
  if (big && head.getUint16(4, little) !== 8) throw new RangeError(`its offsets have ${head.getUint16(4, little)} bytes instead of 8`);
  return { little, big, size, view };
}

async function offsetAt({ big, little, view }: Layout, at: number): Promise<number> {
  const bytes = await view(at, big ? 8 : 4);
  return big ? Number(bytes.getBigUint64(0, little)) : bytes.getUint32(0, little);
}

interface Directory {
  /** Of the directory itself. */
  readonly bytes: number;
  /** Bytes of the values that do not fit into their fields, private ones left out. */
  readonly outside: number;
  /** Where the directory of the next page is; 0 after the last. */
  readonly next: number;
  readonly below: readonly number[];
}

async function readDirectory(layout: Layout, at: number): Promise<Directory> {
  const { big, little, size, view } = layout;
  const [head, entry, room] = big ? [8, 20, 8] : [2, 12, 4];
  const first = await view(at, head);
  const count = big ? Number(first.getBigUint64(0, little)) : first.getUint16(0, little);
  if (at + head + count * entry + room > size)
    throw new RangeError(`it is truncated: a directory of ${count} fields at ${at} is beyond its ${size} bytes`);
  const fields = await view(at + head, count * entry);
  const below: number[] = [];
  let outside = 0;
  for (let start = 0; start < count * entry; start += entry) {
    const tag = fields.getUint16(start, little);
    const type = fields.getUint16(start + 2, little);
    const values = big ? Number(fields.getBigUint64(start + 4, little)) : fields.getUint32(start + 4, little);
    const bytes = fieldBytes({ tag, type, values, size });
    const place = start + entry - room;
    const inside = bytes <= room;
    const offset = inside
      ? at + head + place
      : big ? Number(fields.getBigUint64(place, little)) : fields.getUint32(place, little); // prettier-ignore
    if (!inside && tag < FIRST_PRIVATE) {
      if (offset + bytes > size) throw new RangeError(`it is truncated: tag ${tag} ends at ${offset + bytes}, the file at ${size}`);
      outside += bytes;
    }
    if (tag === SUB_DIRECTORIES) {
      if (values > MOST_DIRECTORIES) throw new RangeError(`it has more than ${MOST_DIRECTORIES} pages`);
      for (let n = 0; n < values; n++) below.push(await subOffset(layout, offset + n * (bytes / values), type));
    }
  }
  return { bytes: head + count * entry + room, outside, next: await offsetAt(layout, at + head + count * entry), below };
}

/** The bytes a field's values take, which the file has. */
function fieldBytes({ tag, type, values, size }: { tag: number; type: number; values: number; size: number }): number {
  const name = SINGLE[tag];
  if (name !== undefined && (values !== 1 || !UNSIGNED.includes(type)))
    throw new RangeError(`tag ${tag} (${name}) is ${values} values of type ${type} instead of one whole number`);
  if (COUNTED[tag] !== undefined && !UNSIGNED.includes(type))
    throw new RangeError(`tag ${tag} (${COUNTED[tag]}) is of type ${type} instead of whole numbers`);
  const each = TYPE_BYTES[type];
  if (each === undefined) throw new RangeError(`tag ${tag} has the unknown type ${type}`);
  if (values * each > size) throw new RangeError(`tag ${tag} claims ${values} values of ${each} bytes, the file has ${size}`);
  return values * each;
}

async function subOffset({ view, little }: Layout, at: number, type: number): Promise<number> {
  const bytes = TYPE_BYTES[type];
  if (bytes !== 4 && bytes !== 8) throw new RangeError(`tag ${SUB_DIRECTORIES} (SubIFDs) is of type ${type}, which is not an offset`);
  const value = await view(at, bytes);
  return bytes === 8 ? Number(value.getBigUint64(0, little)) : value.getUint32(0, little);
}
