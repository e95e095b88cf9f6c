import type { Size } from "../image/image.ts";
import { decoding } from "./formatError.ts";

/** What the boxes at the head of a HEIF file say about its main image. Size as stored, before it is turned upright. */
export interface HeifHeader extends Size {
  readonly bits: number;
  /** 1 to 8, as in EXIF; from HEIF's own properties, which hold even if the EXIF block says otherwise. */
  readonly orientation: number;
  /** The ICC profile. */
  readonly profile?: Uint8Array;
  /** Where the EXIF item is in the file. */
  readonly exif?: { readonly start: number; readonly length: number };
}

/** Whether the bytes begin a HEIF file: what phones write as .heic, .heif or .hif. AVIF, which has other decoders, does not count. */
export function isHeif(head: Uint8Array): boolean {
  const brands = brandsOf(head);
  return brands.some((brand) => /^(hei[cxms]|hev[cxms]|mif1|msf1)$/.test(brand)) && !isAvif(head);
}

/** AVIF has the same boxes. */
export const isAvif = (head: Uint8Array): boolean => brandsOf(head).some((brand) => /^avi[fs]$/.test(brand));

/** The brands that an ISO base media file names in its first box. */
export function brandsOf(head: Uint8Array): string[] {
  const name = (at: number): string => String.fromCharCode(...head.subarray(at, at + 4));
  if (head.length < 16 || name(4) !== "ftyp") return [];
  const end = Math.min(new DataView(head.buffer, head.byteOffset).getUint32(0), head.length, 256);
  const brands = [name(8)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(name(at));
  return brands;
}

/** Reads the directory of a HEIF file (ISO/IEC 23008-12) from its first bytes. */
export function readHeifHeader(head: Uint8Array, file = "HEIF data"): HeifHeader {
  return decoding({ file, format: "HEIC" }, () => {
    const meta = boxesOf(head, { start: 0, end: head.length }).find(({ type }) => type === "meta");
    if (!meta) throw new RangeError("it has no directory of images");
    const children = boxesOf(head, { start: meta.start + 4, end: meta.end });
    const child = (type: string): Reader | undefined => {
      const box = children.find((each) => each.type === type);
      return box && new Reader(head, box);
    };
    const primary = child("pitm")?.fullBoxId();
    if (primary === undefined) throw new RangeError("it names no main image");
    const properties = propertiesOf(head, children);
    const own = properties(primary);
    const size = own.find(({ type }) => type === "ispe");
    if (!size) throw new RangeError("its main image has no size");
    const [tile] = references(child("iref"), { type: "dimg", from: primary }); // all have the same bits
    const tiles = tile === undefined ? [] : properties(tile);
    const exif = exifItem(child("iinf"), child("iloc"));
    return {
      ...shapeOf(size.reader, own),
      bits: bitsOf(own) ?? bitsOf(tiles) ?? 8,
      ...profileOf(own),
      ...(exif ? { exif } : {}),
    };
  });
}

interface Box {
  readonly type: string;
  /** Of its content. */
  readonly start: number;
  readonly end: number;
}

interface Property {
  readonly type: string;
  readonly reader: Reader;
}

/** The boxes of an ISO base media file, one after the other. Those that reach beyond the bytes end with them. */
export function boxesOf(bytes: Uint8Array, { start, end }: { start: number; end: number }): Box[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const boxes: Box[] = [];
  for (let at = start; at + 8 <= end;) {
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const short = view.getUint32(at);
    const isLong = short === 1 && at + 16 <= end;
    const size = isLong ? Number(view.getBigUint64(at + 8)) : short === 0 ? end - at : short;
    const head = isLong ? 16 : 8;
    if (size < head) throw new RangeError(`its box “${type}” has a size of ${size}`);
    boxes.push({ type, start: at + head, end: Math.min(at + size, end) });
    at += size;
  }
  return boxes;
}

/** Reads big-endian numbers one after the other; throws a RangeError at the end of the box. */
class Reader {
  readonly view: DataView;
  at = 0;

  constructor(bytes: Uint8Array, { start, end }: Pick<Box, "start" | "end">) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
  }

  uint(size: number): number {
    let value = 0;
    for (let i = 0; i < size; i++) value = value * 256 + this.view.getUint8(this.at++);
    return value;
  }

  text(length: number): string {
    return String.fromCharCode(...Array.from({ length }, () => this.uint(1)));
  }

  /** The version of a “full box”; skips its flags. */
  version(): number {
    const version = this.uint(1);
    this.at += 3;
    return version;
  }

  /** The content of pitm. */
  fullBoxId(): number {
    return this.uint(this.version() === 0 ? 2 : 4);
  }
}

/** The properties of an item, in the order in which they apply. */
function propertiesOf(head: Uint8Array, children: readonly Box[]): (item: number) => Property[] {
  const iprp = children.find(({ type }) => type === "iprp");
  const parts = iprp ? boxesOf(head, iprp) : [];
  const store = parts.find(({ type }) => type === "ipco");
  const all = store ? boxesOf(head, store) : [];
  const indices = new Map<number, number[]>();
  for (const box of parts.filter(({ type }) => type === "ipma")) {
    const reader = new Reader(head, box);
    const version = reader.uint(1);
    const wide = (reader.uint(3) & 1) === 1;
    for (let left = reader.uint(4); left > 0; left--) {
      const item = reader.uint(version < 1 ? 2 : 4);
      const count = reader.uint(1);
      indices.set(
        item,
        Array.from({ length: count }, () => (wide ? reader.uint(2) & 0x7fff : reader.uint(1) & 0x7f)),
      );
    }
  }
  return (item) =>
    (indices.get(item) ?? []).flatMap((index) => {
      const box = all[index - 1];
      return box ? [{ type: box.type, reader: new Reader(head, box) }] : [];
    });
}

/** Items that `from` refers to. */
function references(iref: Reader | undefined, wanted: { type: string; from: number }): number[] {
  if (!iref) return [];
  const idSize = iref.version() === 0 ? 2 : 4;
  while (iref.at + 8 <= iref.view.byteLength) {
    const end = iref.at + iref.uint(4);
    const type = iref.text(4);
    const from = iref.uint(idSize);
    if (type === wanted.type && from === wanted.from) return Array.from({ length: iref.uint(2) }, () => iref.uint(idSize));
    if (end <= iref.at) return [];
    iref.at = end;
  }
  return [];
}

/** Quarter turns anticlockwise after an optional flip from left to right → EXIF's number. */
const ORIENTATIONS = { upright: [1, 8, 3, 6], flipped: [2, 5, 4, 7] } as const;

/** The size as stored, cropped (clap), and what rotations (irot) and mirrors (imir) amount to. */
function shapeOf(ispe: Reader, properties: readonly Property[]): Size & { orientation: number } {
  ispe.version();
  let [width, height] = [ispe.uint(4), ispe.uint(4)];
  let [turns, isFlipped] = [0, false];
  for (const { type, reader } of properties) {
    if (type === "clap") {
      const side = (): number => Math.round(reader.uint(4) / reader.uint(4));
      const [w, h] = [side(), side()];
      if (w > 0 && h > 0) [width, height] = turns % 2 === 0 ? [w, h] : [h, w];
    }
    if (type === "irot") turns = (turns + (reader.uint(1) & 3)) % 4;
    if (type === "imir") {
      // A flip after turns is a flip before as many turns the other way; upside down is left to right and half a turn.
      const isUpsideDown = (reader.uint(1) & 1) === 0;
      turns = (4 - turns + (isUpsideDown ? 2 : 0)) % 4;
      isFlipped = !isFlipped;
    }
  }
  if (!(width > 0 && height > 0)) throw new RangeError(`its main image is ${width}×${height} pixels`);
  return { width, height, orientation: ORIENTATIONS[isFlipped ? "flipped" : "upright"][turns] as number };
}

function bitsOf(properties: readonly Property[]): number | undefined {
  for (const { type, reader } of properties) {
    if (type === "pixi") {
      reader.version();
      const channels = reader.uint(1);
      return Math.max(...Array.from({ length: Math.max(channels, 1) }, () => reader.uint(1)));
    }
    if (type === "hvcC") {
      reader.at = 17; // after the profile and the chroma format
      return 8 + (reader.uint(1) & 7);
    }
  }
  return undefined;
}

function profileOf(properties: readonly Property[]): { profile?: Uint8Array } {
  for (const { type, reader } of properties) {
    if (type !== "colr" || !["prof", "rICC"].includes(reader.text(4))) continue;
    const { buffer, byteOffset, byteLength } = reader.view;
    return { profile: new Uint8Array(buffer, byteOffset + 4, byteLength - 4).slice() };
  }
  return {};
}

/** Where the item of type Exif is, if it is in one piece in the file. */
function exifItem(iinf: Reader | undefined, iloc: Reader | undefined): HeifHeader["exif"] {
  const item = iinf && exifId(iinf);
  if (item === undefined || !iloc) return undefined;
  const version = iloc.version();
  const sizes = iloc.uint(2);
  const [offsetSize, lengthSize, baseSize, indexSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15, sizes & 15];
  for (let left = iloc.uint(version < 2 ? 2 : 4); left > 0; left--) {
    const id = iloc.uint(version < 2 ? 2 : 4);
    const method = version === 0 ? 0 : iloc.uint(2) & 15;
    iloc.at += 2; // data reference
    const base = iloc.uint(baseSize);
    const extents = iloc.uint(2);
    if (indexSize + offsetSize + lengthSize === 0) continue; // extents without bytes would have no end
    for (let n = 0; n < extents; n++) {
      if (version > 0) iloc.at += indexSize;
      const [offset, length] = [iloc.uint(offsetSize), iloc.uint(lengthSize)];
      if (id === item && method === 0 && extents === 1) return { start: base + offset, length };
    }
  }
  return undefined;
}

function exifId(iinf: Reader): number | undefined {
  iinf.at = iinf.version() === 0 ? 6 : 8; // after the count
  while (iinf.at + 16 <= iinf.view.byteLength) {
    const end = iinf.at + iinf.uint(4);
    iinf.at += 4; // “infe”
    const version = iinf.version();
    const id = iinf.uint(version < 3 ? 2 : 4);
    iinf.at += 2; // protection
    if (version >= 2 && iinf.text(4) === "Exif") return id;
    if (end <= iinf.at - 12) return undefined;
    iinf.at = end;
  }
  return undefined;
}
