/** One field of a directory: tag, TIFF type, values (fractions as pairs). */
export type ExifField = readonly [tag: number, type: 1 | 2 | 3 | 4 | 5 | 7 | 10, values: readonly number[] | string | Uint8Array];

const SIZE = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 7: 1, 10: 4 } as const; // 5 and 10: each half of a fraction

/** A TIFF-like block with `main` at its head and, if given, an EXIF directory and a maker note, written from the specification. */
export function exifBlock(
  { main = [], exif = [] }: { main?: readonly ExifField[]; exif?: readonly ExifField[] },
  { little = true }: { little?: boolean } = {},
): Uint8Array {
  const bytes = new Uint8Array(4096);
  const view = new DataView(bytes.buffer);
  bytes.set(little ? [0x49, 0x49, 42, 0] : [0x4d, 0x4d, 0, 42]);
  view.setUint32(4, 8, little);
  const exifAt = 8 + 2 + 12 * (main.length + 1) + 4;
  const end = writeDirectory(view, [...main, [0x8769, 4, [exifAt]]], { at: 8, free: exifAt + 2 + 12 * exif.length + 4, base: 0, little });
  return bytes.slice(0, writeDirectory(view, exif, { at: exifAt, free: end, base: 0, little }));
}

/** Writes a directory at `at`, long values from `free` on; offsets count from `base`. Returns where the free space begins now. */
export function writeDirectory(
  view: DataView,
  fields: readonly ExifField[],
  { at, free, base, little }: { at: number; free: number; base: number; little: boolean },
): number {
  view.setUint16(at, fields.length, little);
  let end = free;
  for (const [i, [tag, type, given]] of fields.entries()) {
    const values = typeof given === "string" ? [...new TextEncoder().encode(given), 0] : [...given];
    const size = SIZE[type];
    const entry = at + 2 + 12 * i;
    view.setUint16(entry, tag, little);
    view.setUint16(entry + 2, type, little);
    view.setUint32(entry + 4, type === 5 || type === 10 ? values.length / 2 : values.length, little);
    const inside = size * values.length <= 4;
    const start = inside ? entry + 8 : end;
    if (!inside) {
      view.setUint32(entry + 8, end - base, little);
      end += size * values.length;
    }
    for (const [j, value] of values.entries()) {
      if (size === 1) view.setUint8(start + j, value);
      else if (size === 2) view.setUint16(start + 2 * j, value, little);
      else if (type === 10) view.setInt32(start + 4 * j, value, little);
      else view.setUint32(start + 4 * j, value, little);
    }
  }
  return end;
}

/** Puts an EXIF block into a JPEG, right after its first two bytes. */
export function jpegWithExif(jpeg: Uint8Array, block: Uint8Array): Uint8Array {
  const length = block.length + 8;
  return Uint8Array.from([
    0xff,
    0xd8,
    0xff,
    0xe1,
    length >> 8,
    length & 255,
    ...new TextEncoder().encode("Exif\0\0"),
    ...block,
    ...jpeg.subarray(2),
  ]);
}
