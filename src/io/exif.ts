import { isHeif, readHeifHeader, type HeifHeader } from "./heif.ts";

/** How a photograph was taken, from its metadata. Lengths in metres; absent where the file states nothing usable. */
export interface PhotoFacts {
  /** 1 to 8, as in EXIF. */
  readonly orientation?: number;
  readonly focalLength?: number;
  readonly fNumber?: number;
  readonly sensorDiagonal?: number;
  /** Focus distance by the place that states it. May be Infinity. */
  readonly focusDistance: Readonly<Partial<Record<FocusTag, number>>>;
}

export const FOCUS_TAGS = ["EXIF", "MakerNote", "XMP"] as const;
type FocusTag = (typeof FOCUS_TAGS)[number];

/** Reads EXIF (also inside TIFF), the maker notes of Canon, Olympus and Apple, and XMP. Damaged parts count as absent; never throws. */
export function readPhotoFacts(bytes: Uint8Array): PhotoFacts {
  const xmp = xmpDistance(bytes);
  const exif = findExif(bytes);
  const facts = exif ? exifFacts(exif) : { focusDistance: {} };
  return xmp === undefined ? facts : { ...facts, focusDistance: { ...facts.focusDistance, XMP: xmp } };
}

/** Bytes laid out as TIFF: directories of tagged values; offsets count from `base`. */
export interface Tiff {
  readonly view: DataView;
  readonly base: number;
  readonly little: boolean;
}

interface Field {
  readonly type: number;
  readonly count: number;
  /** Offset of the value from the start of the view. */
  readonly at: number;
}

const TAG = {
  make: 0x010f,
  orientation: 0x0112,
  exif: 0x8769,
  fNumber: 0x829d,
  subjectDistance: 0x9206,
  focalLength: 0x920a,
  makerNote: 0x927c,
  pixelsX: 0xa002,
  pixelsY: 0xa003,
  focalPlaneResolution: 0xa20e,
  focalPlaneUnit: 0xa210,
  focalLength35: 0xa405,
} as const;

const FOCAL_PLANE_UNIT: Readonly<Record<number, number>> = { 2: 0.0254, 3: 0.01, 4: 0.001, 5: 1e-6 };
const FULL_FRAME_DIAGONAL = Math.hypot(0.036, 0.024);
const INFINITE = 0xffffffff;

/** Marks before EXIF in JPEG and HEIF, in PNG, in WebP (whose size field follows the mark). */
const MARKS = [
  { mark: "Exif\0\0", skip: 6 },
  { mark: "eXIf", skip: 4 },
  { mark: "EXIF", skip: 8 },
];

function findExif(bytes: Uint8Array): Tiff | undefined {
  const direct = tiffAt(bytes, 0);
  if (direct) return direct;
  if (isHeif(bytes)) return heifExif(bytes);
  for (const { mark, skip } of MARKS)
    for (let at = find(bytes, mark, 0); at >= 0; at = find(bytes, mark, at + 1)) {
      const tiff = tiffAt(bytes, at + skip);
      if (tiff) return tiff;
    }
  return undefined;
}

/** The item starts with the distance to the TIFF header, which usually is that over “Exif\0\0”. */
function heifExif(bytes: Uint8Array): Tiff | undefined {
  const { exif } = readable(bytes) ?? {};
  if (!exif || exif.start + 8 > bytes.length) return undefined;
  const skip = new DataView(bytes.buffer, bytes.byteOffset + exif.start).getUint32(0);
  return tiffAt(bytes.subarray(0, exif.start + exif.length), exif.start + 4 + skip);
}

function readable(bytes: Uint8Array): HeifHeader | undefined {
  try {
    return readHeifHeader(bytes);
  } catch {
    return undefined;
  }
}

/** TIFF, then the raw files of Olympus and Panasonic, which are TIFF but for their third byte. */
const TIFF_MARKS = ["II*\0", "MM\0*", "IIRO", "IIRS", "MMOR", "IIU\0"];

export function tiffAt(bytes: Uint8Array, start: number): Tiff | undefined {
  const header = String.fromCharCode(...bytes.subarray(start, start + 4));
  if (!TIFF_MARKS.includes(header)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, bytes.length - start);
  return { view, base: 0, little: header.startsWith("I") };
}

function exifFacts(tiff: Tiff): PhotoFacts {
  const main = directory(tiff, uint32(tiff, 4));
  const exif = directory(tiff, first(tiff, main.get(TAG.exif)) ?? -1);
  const value = (tag: number): number | undefined => first(tiff, exif.get(tag));
  const positive = (tag: number): number | undefined => onlyPositive(value(tag));
  const orientation = first(tiff, main.get(TAG.orientation));
  const focalLength = positive(TAG.focalLength);
  const fNumber = positive(TAG.fNumber);
  const sensorDiagonal = sensorSize({
    pitchUnit: FOCAL_PLANE_UNIT[value(TAG.focalPlaneUnit) ?? 2],
    resolution: positive(TAG.focalPlaneResolution),
    pixels: Math.hypot(positive(TAG.pixelsX) ?? NaN, positive(TAG.pixelsY) ?? NaN),
    cropFactor: (positive(TAG.focalLength35) ?? NaN) / (focalLength ?? NaN),
  });
  const subject = distance(rationals(tiff, exif.get(TAG.subjectDistance))[0]);
  const note = makerNoteDistance(tiff, exif.get(TAG.makerNote), text(tiff, main.get(TAG.make)));
  return {
    ...(orientation !== undefined && orientation >= 1 && orientation <= 8 ? { orientation } : {}),
    ...(focalLength === undefined ? {} : { focalLength: focalLength / 1000 }),
    ...(fNumber === undefined ? {} : { fNumber }),
    ...(sensorDiagonal === undefined ? {} : { sensorDiagonal }),
    focusDistance: { ...(subject === undefined ? {} : { EXIF: subject }), ...(note === undefined ? {} : { MakerNote: note }) },
  };
}

/** From pixels per unit on the sensor, else from the focal length a 36 × 24 mm camera would need for the same field of view. */
function sensorSize({
  pitchUnit,
  resolution,
  pixels,
  cropFactor,
}: {
  pitchUnit: number | undefined;
  resolution: number | undefined;
  pixels: number;
  cropFactor: number;
}): number | undefined {
  const measured = onlyPositive(((pitchUnit ?? NaN) / (resolution ?? NaN)) * pixels);
  return measured ?? onlyPositive(FULL_FRAME_DIAGONAL / cropFactor);
}

/** The focus distance in the notes of makers whose layout ExifTool documents. */
function makerNoteDistance(tiff: Tiff, note: Field | undefined, make: string): number | undefined {
  if (!note) return undefined;
  const head = String.fromCharCode(...bytesAt(tiff.view, note.at, 16));
  if (head.startsWith("OLYMPUS\0")) return olympusDistance({ ...tiff, base: note.at, little: head.startsWith("II", 8) });
  if (head.startsWith("Apple iOS\0")) return appleDistance({ ...tiff, base: note.at, little: head.startsWith("II", 12) });
  return /^canon/i.test(make) ? canonDistance(tiff, note.at) : undefined;
}

/** FileInfo 20, 21 or ShotInfo 19, 20: far and near end of the focused range in centimetres. */
function canonDistance(tiff: Tiff, at: number): number | undefined {
  const fields = directory(tiff, at - tiff.base);
  for (const [tag, index] of [
    [0x0093, 20],
    [0x0004, 19],
  ] as const) {
    const [far = 0, near = 0] = integers(tiff, fields.get(tag)).slice(index, index + 2);
    const metres = (value: number): number => (value === 0xffff ? Infinity : value / 100);
    if (far > 0 && near > 0) return onlyPositive(2 / (1 / metres(far) + 1 / metres(near)), true); // the middle of the range in dioptres
  }
  return undefined;
}

/** FocusInfo 0x0305: a fraction whose numerator alone is millimetres. */
function olympusDistance(note: Tiff): number | undefined {
  const focusInfo = first(note, directory(note, 12).get(0x2050));
  const [fraction] = rationals(note, directory(note, focusInfo ?? -1).get(0x0305));
  return fraction && distance([fraction[0], 1000]);
}

/** FocusDistanceRange: two distances in metres, in either order. */
function appleDistance(note: Tiff): number | undefined {
  const range = rationals(note, directory(note, 14).get(0x000c)).map(([above, below]) => above / below);
  const [one = NaN, other = NaN] = range;
  return onlyPositive(2 / (1 / one + 1 / other));
}

/** EXIF: numerator 0xFFFFFFFF is infinity, 0 is unknown. */
function distance(fraction: readonly [number, number] | undefined): number | undefined {
  if (!fraction) return undefined;
  return fraction[0] === INFINITE ? Infinity : onlyPositive(fraction[0] / fraction[1]);
}

function onlyPositive(value: number | undefined, orInfinity = false): number | undefined {
  return value !== undefined && value > 0 && (Number.isFinite(value) || orInfinity) ? value : undefined;
}

/** Lightroom's aux:ApproximateFocusDistance, or exif:SubjectDistance, as attribute or element: "123/100". */
function xmpDistance(bytes: Uint8Array): number | undefined {
  const from = find(bytes, "<x:xmpmeta", 0);
  if (from < 0) return undefined;
  const end = find(bytes, "</x:xmpmeta>", from);
  const xml = new TextDecoder().decode(bytes.subarray(from, end < 0 ? from + 65536 : end));
  const match = /(?:aux:ApproximateFocusDistance|exif:SubjectDistance)(?:="|>)(\d{1,10})\/(\d{1,10})["<]/.exec(xml);
  return match ? distance([Number(match[1]), Number(match[2])]) : undefined;
}

/** Where `wanted` (one byte per letter) begins at or after `from`; -1 if it does not occur. */
export function find(bytes: Uint8Array, wanted: string, from: number): number {
  const codes = Array.from(wanted, (letter) => letter.charCodeAt(0));
  for (let at = bytes.indexOf(codes[0] as number, from); at >= 0; at = bytes.indexOf(codes[0] as number, at + 1))
    if (codes.every((code, i) => bytes[at + i] === code)) return at;
  return -1;
}

const TYPE_SIZE: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 13: 4 };
const MAX_VALUES = 4096;

/** The fields of the directory at `offset` from the base; none if it is outside the bytes. */
export function directory(tiff: Tiff, offset: number): Map<number, Field> {
  const fields = new Map<number, Field>();
  const { view, base, little } = tiff;
  const at = base + offset;
  if (offset < 0 || at + 2 > view.byteLength) return fields;
  const count = view.getUint16(at, little);
  for (let i = 0; i < count && at + 14 + 12 * i <= view.byteLength; i++) {
    const entry = at + 2 + 12 * i;
    const [type, values] = [view.getUint16(entry + 2, little), view.getUint32(entry + 4, little)];
    const size = (TYPE_SIZE[type] ?? Infinity) * values;
    const start = size <= 4 ? entry + 8 : base + view.getUint32(entry + 8, little);
    if (start + size <= view.byteLength) fields.set(view.getUint16(entry, little), { type, count: values, at: start });
  }
  return fields;
}

export const uint32 = ({ view, little }: Tiff, at: number): number => (at + 4 <= view.byteLength ? view.getUint32(at, little) : -1);

function first(tiff: Tiff, field: Field | undefined): number | undefined {
  const [fraction] = rationals(tiff, field);
  return fraction ? fraction[0] / fraction[1] : integers(tiff, field)[0];
}

export function integers({ view, little }: Tiff, field: Field | undefined): number[] {
  const size = TYPE_SIZE[field?.type ?? 0];
  if (!field || (size !== 1 && size !== 2 && size !== 4)) return [];
  return Array.from({ length: Math.min(field.count, MAX_VALUES) }, (_, i) => {
    const at = field.at + i * size;
    return size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at, little) : view.getUint32(at, little);
  });
}

function rationals({ view, little }: Tiff, field: Field | undefined): [number, number][] {
  if (!field || (field.type !== 5 && field.type !== 10)) return [];
  const read = (at: number): number => (field.type === 5 ? view.getUint32(at, little) : view.getInt32(at, little));
  return Array.from({ length: Math.min(field.count, MAX_VALUES) }, (_, i) => [read(field.at + 8 * i), read(field.at + 8 * i + 4)]);
}

const text = (tiff: Tiff, field: Field | undefined): string =>
  field ? String.fromCharCode(...bytesAt(tiff.view, field.at, Math.min(field.count, 64))) : "";

const bytesAt = (view: DataView, at: number, length: number): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset + at, Math.max(0, Math.min(length, view.byteLength - at)));
