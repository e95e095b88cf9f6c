import { tiffAt } from "./exif.ts";
import type { ByteSource } from "./tiffDirectories.ts";

/** What a TIFF, or a raw file laid out as one, states about itself besides the pixels, wherever in the file it is. */
export interface TiffMetadata {
  /** As a block of its own, with the byte order of the file. */
  readonly exif?: Uint8Array;
  readonly profile?: Uint8Array;
}

const TAG = { description: 270, exif: 0x8769, gps: 0x8825, makerNote: 0x927c, interoperability: 0xa005, profile: 34675 } as const;

/** Fields of the first directory that are about the photograph and not about how its pixels are stored. */
const PHOTO_TAGS: ReadonlySet<number> = new Set([
  ...[TAG.description, 271, 272, 274, 282, 283, 296], // description, make, model, orientation, resolution
  ...[305, 306, 315, 316, 18246, 33432], // software, date, artist, host computer, rating, copyright
]);

/** Whether a field of the first directory belongs to EXIF, its own directories included. */
export const isPhotoTag = (tag: number): boolean => PHOTO_TAGS.has(tag) || tag === TAG.exif || tag === TAG.gps;

const TYPE_BYTES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8 };
const MOST_FIELDS = 1024;
const MOST_BYTES = { field: 1 << 16, block: 1 << 18, profile: 4 << 20 } as const;

interface Field {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  readonly bytes: Uint8Array;
}

/**
 * Copies EXIF into a block of its own. Maker notes are left out: many hold offsets that count from the start of the file. Damaged parts count
 * as absent; BigTIFF has none.
 */
export async function tiffMetadata(source: ByteSource): Promise<TiffMetadata> {
  const header = await source.read(0, 8);
  const tiff = tiffAt(header, 0);
  if (!tiff || header.length < 8) return {};
  const { little } = tiff;
  const fieldsAt = (offset: number, wanted: (tag: number) => boolean): Promise<Field[]> => readFields(source, { offset, little, wanted });
  const first = tiff.view.getUint32(4, little);
  const main = await fieldsAt(first, (tag) => isPhotoTag(tag) || tag === TAG.profile);
  const below = async (tag: number): Promise<Field[]> => {
    const pointer = main.find((field) => field.tag === tag);
    if (pointer?.bytes.length !== 4) return [];
    const offset = new DataView(pointer.bytes.buffer, pointer.bytes.byteOffset, 4).getUint32(0, little);
    return fieldsAt(offset, (each) => each !== TAG.makerNote && each !== TAG.interoperability);
  };
  // The description of a microscope's file says how its pages make a stack, which one image is not.
  const photo = main.filter(({ tag }) => PHOTO_TAGS.has(tag) && tag !== TAG.description);
  const [exif, gps] = [await below(TAG.exif), await below(TAG.gps)];
  const profile = main.find(({ tag }) => tag === TAG.profile)?.bytes;
  const block = photo.length + exif.length + gps.length > 0 ? writeBlock({ photo, exif, gps, little }) : undefined;
  return {
    ...(block && block.length <= MOST_BYTES.block ? { exif: block } : {}),
    ...(profile ? { profile } : {}),
  };
}

async function readFields(
  source: ByteSource,
  { offset, little, wanted }: { offset: number; little: boolean; wanted: (tag: number) => boolean },
): Promise<Field[]> {
  const viewOf = async (at: number, length: number): Promise<DataView> => {
    const { buffer, byteOffset, byteLength } = await source.read(at, length);
    return new DataView(buffer, byteOffset, byteLength);
  };
  if (offset < 8 || offset + 2 > source.size) return [];
  const count = Math.min((await viewOf(offset, 2)).getUint16(0, little), MOST_FIELDS);
  const entries = await viewOf(offset + 2, 12 * count);
  const fields: Field[] = [];
  let left: number = MOST_BYTES.block;
  for (let at = 0; at + 12 <= entries.byteLength; at += 12) {
    const [tag, type, values] = [entries.getUint16(at, little), entries.getUint16(at + 2, little), entries.getUint32(at + 4, little)];
    const length = (TYPE_BYTES[type] ?? Infinity) * values;
    if (!wanted(tag) || length === 0 || length > (tag === TAG.profile ? MOST_BYTES.profile : Math.min(left, MOST_BYTES.field))) continue;
    if (tag !== TAG.profile) left -= length;
    const start = length <= 4 ? offset + 2 + at + 8 : entries.getUint32(at + 8, little);
    const bytes = start + length <= source.size ? (await source.read(start, length)).slice() : new Uint8Array(0);
    if (bytes.length === length) fields.push({ tag, type, count: values, bytes });
  }
  return fields;
}

interface Block {
  readonly photo: readonly Field[];
  readonly exif: readonly Field[];
  readonly gps: readonly Field[];
  readonly little: boolean;
}

/** The header, the directories, and then the values that do not fit into them. */
function writeBlock({ photo, exif, gps, little }: Block): Uint8Array {
  const pointers = [...(exif.length > 0 ? [TAG.exif] : []), ...(gps.length > 0 ? [TAG.gps] : [])];
  const sizeOf = (fields: number): number => 2 + 12 * fields + 4;
  const below = [exif, gps].filter(({ length }) => length > 0);
  const starts = below.map((_, i) => 8 + sizeOf(photo.length + pointers.length) + below.slice(0, i).reduce((sum, { length }) => sum + sizeOf(length), 0)); // prettier-ignore
  const main = [...photo, ...pointers.map((tag, i) => pointer(tag, starts[i] as number, little))].sort((a, b) => a.tag - b.tag);
  const directories = [main, ...below];
  const outside = directories.flat().reduce((sum, { bytes: { length } }) => sum + (length > 4 ? even(length) : 0), 0);
  const block = new Uint8Array(8 + directories.reduce((sum, { length }) => sum + sizeOf(length), 0) + outside);
  const view = new DataView(block.buffer);
  block.set(little ? [0x49, 0x49, 42, 0] : [0x4d, 0x4d, 0, 42]);
  view.setUint32(4, 8, little);
  let [at, free] = [8, block.length - outside];
  for (const fields of directories) {
    view.setUint16(at, fields.length, little);
    for (const [i, { tag, type, count, bytes }] of fields.entries()) {
      const entry = at + 2 + 12 * i;
      view.setUint16(entry, tag, little);
      view.setUint16(entry + 2, type, little);
      view.setUint32(entry + 4, count, little);
      if (bytes.length <= 4) block.set(bytes, entry + 8);
      else {
        view.setUint32(entry + 8, free, little);
        block.set(bytes, free);
        free += even(bytes.length);
      }
    }
    at += sizeOf(fields.length);
  }
  return block;
}

function pointer(tag: number, offset: number, little: boolean): Field {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, offset, little);
  return { tag, type: 4, count: 1, bytes };
}

const even = (size: number): number => size + (size & 1);
