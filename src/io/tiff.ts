import type { GeoTIFF, GeoTIFFImage } from "geotiff";
import { image, type Image, type Size } from "../image/image.ts";
import { directory, tiffAt, uint32, type Tiff } from "./exif.ts";
import { decodingAsync } from "./formatError.ts";
import { loadGeotiff } from "./geotiff.ts";
import { checkTiffDirectories, memorySource } from "./tiffDirectories.ts";
import { isPhotoTag } from "./tiffMetadata.ts";

export type TiffValues = Uint8Array | Uint16Array | Uint32Array | Int8Array | Int16Array | Int32Array | Float32Array | Float64Array;

/** One page as stored: channels interleaved, integers unscaled. */
export interface TiffPage extends Size {
  readonly channels: number;
  readonly data: TiffValues;
  /** The ImageDescription tag; OME-TIFF keeps its XML there. */
  readonly description?: string;
}

/** A page before its pixels are read. */
interface TiffPageInfo extends Size {
  readonly page: number;
  readonly channels: 1 | 3;
  readonly bits: number;
  readonly isFloat: boolean;
  readonly isSigned: boolean;
  readonly orientation: number;
  /** Thumbnails and pyramid levels. */
  readonly isReduced: boolean;
}

export interface TiffInfo {
  readonly pages: readonly TiffPageInfo[];
  /** The ImageDescription of the first page, where OME-XML and ImageJ's description are. */
  readonly description: string;
}

/** The highest ratios of the compressions that have one: none, LZW, Deflate, PackBits. */
const MAX_RATIO: Readonly<Record<number, number>> = { 1: 1, 5: 2600, 8: 1033, 32946: 1033, 32773: 64 };
/** Of the others. A higher one means a damaged header. */
const ANY_RATIO = 5000;

/** Whether a file that begins with these bytes is a TIFF, whatever its name. */
export function isTiff([a, b, c, d]: Uint8Array): boolean {
  return (a === 0x49 && b === 0x49 && (c === 42 || c === 43) && d === 0) || (a === 0x4d && b === 0x4d && c === 0 && (d === 42 || d === 43));
}

/** Every page: 8, 16, 32-bit integers or floats, grey, RGB, palette or YCbCr, any common compression. */
export async function decodeTiff(bytes: Uint8Array, file = "TIFF data"): Promise<TiffPage[]> {
  return decodingAsync({ file, format: "TIFF" }, async () => {
    if (!isTiff(bytes)) throw new RangeError("the first bytes are not II or MM");
    await checkTiffDirectories(memorySource(bytes));
    const { fromArrayBuffer } = await loadGeotiff();
    const tiff = await fromArrayBuffer(bytes.slice().buffer);
    const pages: TiffPage[] = [];
    for await (const page of tiffPages(tiff)) pages.push(await readTiffPage(page, bytes.length));
    return pages;
  });
}

/** The pages of an open file, one after the other. Damaged files may point back to an earlier page, which is an error. */
export async function* tiffPages(tiff: GeoTIFF): AsyncGenerator<GeoTIFFImage> {
  const offsets = new Set<number>();
  for (let index = 0; ; index++) {
    const page = await tiff.getImage(index);
    yield page;
    const next = page.fileDirectory.nextIFDByteOffset;
    if (next === 0) return;
    if (offsets.has(next)) throw new RangeError("its pages lead back to an earlier one");
    offsets.add(next);
  }
}

/** One page of an open file; `fileBytes` is the file's size, against which a damaged header is detected. */
export async function readTiffPage(page: GeoTIFFImage, fileBytes: number): Promise<TiffPage> {
  const [width, height] = [page.getWidth(), page.getHeight()];
  const samples = page.getSamplesPerPixel();
  const photometric = page.fileDirectory.getValue("PhotometricInterpretation") ?? 1;
  if (!page.fileDirectory.hasTag("BitsPerSample")) throw new RangeError("it does not say how many bits a value has");
  const bits = page.getBitsPerSample();
  const ratio = MAX_RATIO[page.fileDirectory.getValue("Compression") ?? 1] ?? ANY_RATIO;
  const block = page.getTileWidth() * Math.min(page.getTileHeight(), height);
  if (!(width * height * samples * block > 0) || (Math.max(width * height, block) * samples * bits) / 8 > ratio * fileBytes)
    throw new RangeError(`a page of ${width}×${height}×${samples} values does not fit into a file of ${fileBytes} bytes`);
  await checkWhole(page, fileBytes);
  const asRgb = [3, 5, 6, 8].includes(photometric); // palette, CMYK, YCbCr, Lab
  const raster = asRgb ? await page.readRGB({ interleave: true }) : await page.readRasters({ interleave: true });
  const data = plainArray(raster);
  const channels = asRgb ? 3 : samples;
  if (data.length !== width * height * channels)
    throw new RangeError(`a page of ${width}×${height}×${channels} holds ${data.length} values`);
  const whiteIsZero = photometric === 0 && (data instanceof Uint8Array || data instanceof Uint16Array);
  if (whiteIsZero) for (let i = 0; i < data.length; i++) data[i] = 2 ** bits - 1 - (data[i] as number);
  const description = await describe(page);
  return { width, height, channels, data, ...(description === "" ? {} : { description }) };
}

/** Reads the directories only, however large the file. */
export async function tiffInfo(tiff: GeoTIFF): Promise<TiffInfo> {
  const pages: TiffPageInfo[] = [];
  let description = "";
  for await (const page of tiffPages(tiff)) {
    if (pages.length === 0) description = await describe(page);
    pages.push(await pageInfo(page, pages.length));
  }
  return { pages, description };
}

async function describe(page: GeoTIFFImage): Promise<string> {
  if (!page.fileDirectory.hasTag("ImageDescription")) return "";
  const text = String(await page.fileDirectory.loadValue("ImageDescription"));
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0) end -= 1; // as a pattern this takes the square of the time
  return text.slice(0, end);
}

async function pageInfo(page: GeoTIFFImage, index: number): Promise<TiffPageInfo> {
  const tags = page.fileDirectory;
  const number = async (tag: "Orientation" | "NewSubfileType" | "PhotometricInterpretation", fallback: number): Promise<number> =>
    tags.hasTag(tag) ? Number(await tags.loadValue(tag)) : fallback;
  const orientation = await number("Orientation", 1);
  const [width, height] = [page.getWidth(), page.getHeight()];
  if (!(width > 0 && height > 0)) throw new RangeError(`page ${index + 1} has no size`);
  return {
    page: index,
    width,
    height,
    channels: page.getSamplesPerPixel() >= 3 || (await number("PhotometricInterpretation", 1)) === 3 ? 3 : 1,
    bits: page.getBitsPerSample(),
    isFloat: page.getSampleFormat() === 3,
    isSigned: page.getSampleFormat() === 2,
    orientation: orientation >= 1 && orientation <= 8 ? orientation : 1,
    isReduced: ((await number("NewSubfileType", 0)) & 1) === 1,
  };
}

/** geotiff reads bytes beyond the end of a truncated file as zeros, and strips that are not listed from anywhere. */
async function checkWhole(page: GeoTIFFImage, fileBytes: number): Promise<void> {
  const tags = page.fileDirectory;
  const [start, length] = tags.hasTag("TileOffsets")
    ? (["TileOffsets", "TileByteCounts"] as const)
    : (["StripOffsets", "StripByteCounts"] as const);
  if (!tags.hasTag(start) || !tags.hasTag(length)) throw new RangeError("it does not say where its pixels are");
  const [starts, lengths] = [await numbersOf(tags.loadValue(start)), await numbersOf(tags.loadValue(length))];
  const needed = blocksOf(page);
  const listed = Math.min(starts.length, lengths.length);
  if (listed < needed) throw new RangeError(`it lists ${listed} of the ${needed} parts of a page`);
  const end = starts.reduce((most, at, i) => Math.max(most, at + (lengths[i] ?? 0)), 0);
  if (end > fileBytes) throw new RangeError(`it is truncated: its pixels need ${end} bytes, the file has ${fileBytes}`);
}

/** Strips or tiles of a page. */
function blocksOf(page: GeoTIFFImage): number {
  const perPlane = Math.ceil(page.getWidth() / page.getTileWidth()) * Math.ceil(page.getHeight() / page.getTileHeight());
  return page.fileDirectory.getValue("PlanarConfiguration") === 2 ? perPlane * page.getSamplesPerPixel() : perPlane;
}

/** One number is stored as such, many as an array of any type. */
async function numbersOf(value: Promise<unknown>): Promise<number[]> {
  const loaded = await value;
  return (typeof loaded === "object" && loaded !== null ? Array.from(loaded as ArrayLike<unknown>) : [loaded]).map(Number);
}

/** Without the properties geotiff adds, and bytes as bytes. */
const plainArray = (values: TiffValues | Uint8ClampedArray): TiffValues =>
  values instanceof Uint8ClampedArray ? new Uint8Array(values.buffer, values.byteOffset, values.length) : values.subarray(0);

/** 8 and 16-bit integers become [0, 1]; floats stay as they are. Channels beyond the first three (or after grey) are dropped. */
export function tiffImage({ width, height, channels, data }: TiffPage): Image {
  const kept = channels < 3 ? 1 : 3;
  const top = data instanceof Uint8Array ? 255 : data instanceof Uint16Array ? 65535 : data instanceof Uint32Array ? 2 ** 32 - 1 : 1;
  const values = new Float32Array(width * height * kept);
  for (let pixel = 0; pixel < width * height; pixel++)
    for (let c = 0; c < kept; c++) values[pixel * kept + c] = (data[pixel * channels + c] as number) / top;
  return image({ width, height, channels: kept, data: values });
}

const SAMPLES = { Uint8Array: [1, 8], Uint16Array: [1, 16], Float32Array: [3, 32] } as const; // SampleFormat, bits

/** A page to write: the array type gives the sample format. */
export type WritableTiffPage = Omit<TiffPage, "data" | "channels"> & {
  readonly channels: 1 | 3;
  readonly data: Uint8Array | Uint16Array | Float32Array;
  /** The ICC profile. */
  readonly profile?: Uint8Array | undefined;
};

export interface TiffOptions {
  /** The EXIF block of the first page, whose byte order the file then has; its offsets lead nowhere outside. */
  readonly exif?: Uint8Array | undefined;
}

/**
 * Writes uncompressed TIFF, one strip per page; little-endian without EXIF. An EXIF block is a small TIFF: the file begins with it, so that
 * every offset in it holds, those of maker notes included, and the first page's directory takes over the fields of the block's.
 */
export function encodeTiff(pages: readonly WritableTiffPage[], { exif }: TiffOptions = {}): Uint8Array {
  const block = exif && tiffAt(exif, 0);
  const little = block?.little ?? true;
  const photo = block ? photoEntries(block) : [];
  const parts = pages.map((page, index) => ({ page, ...tagsOf(page, index === 0 ? photo : []) }));
  const head = exif ? even(exif.length) : 8;
  const bytes = new Uint8Array(head + parts.reduce((sum, { length }) => sum + length, 0));
  const view = new DataView(bytes.buffer);
  bytes.set(exif ?? [0x49, 0x49, 42, 0]);
  view.setUint32(4, pages.length === 0 ? 0 : head, little);
  let at = head;
  for (const [index, { page, tags, directory, length }] of parts.entries()) {
    let extra = at + directory;
    const place = (size: number): number => (extra += size) - size;
    view.setUint16(at, tags.length, little);
    for (const [i, tag] of tags.entries()) {
      const entry = at + 2 + 12 * i;
      if ("entry" in tag) bytes.set(tag.entry, entry);
      else writeTag(view, { ...tag, entry, place, little });
    }
    const stripEntry = at + 2 + 12 * tags.findIndex(({ tag }) => tag === 273);
    view.setUint32(stripEntry + 8, extra, little);
    bytes.set(samplesOf(page.data, little), extra);
    view.setUint32(at + directory - 4, index + 1 < parts.length ? at + length : 0, little);
    at += length;
  }
  return bytes;
}

/** The bytes of the pixels. */
function samplesOf(data: WritableTiffPage["data"], little: boolean): Uint8Array {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const size = data.BYTES_PER_ELEMENT;
  if (little || size === 1) return bytes;
  const swapped = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += size) for (let i = 0; i < size; i++) swapped[at + i] = bytes[at + size - 1 - i] as number;
  return swapped;
}

interface Tag {
  readonly tag: number;
  readonly type: 2 | 3 | 4 | 7; // ASCII, SHORT, LONG, any bytes
  readonly values: readonly number[] | Uint8Array;
}

/** A field as it stands in another directory of the file. */
interface CopiedTag {
  readonly tag: number;
  readonly entry: Uint8Array;
}

const TYPE_SIZE = { 2: 1, 3: 2, 4: 4, 7: 1 } as const;

const even = (size: number): number => size + (size & 1);

/** What the directory of a page takes over from the block. */
function photoEntries(block: Tiff): CopiedTag[] {
  const { view } = block;
  const start = uint32(block, 4);
  return [...directory(block, start).keys()].filter(isPhotoTag).map((tag) => {
    let entry = start + 2;
    while (view.getUint16(entry, block.little) !== tag) entry += 12;
    return { tag, entry: new Uint8Array(view.buffer, view.byteOffset + entry, 12) };
  });
}

interface Placed extends Tag {
  readonly entry: number;
  /** Room for values outside the directory. */
  readonly place: (size: number) => number;
  readonly little: boolean;
}

function writeTag(view: DataView, { tag, type, values, entry, place, little }: Placed): void {
  const size = TYPE_SIZE[type];
  view.setUint16(entry, tag, little);
  view.setUint16(entry + 2, type, little);
  view.setUint32(entry + 4, values.length, little);
  const start = size * values.length <= 4 ? entry + 8 : place(even(size * values.length));
  if (start !== entry + 8) view.setUint32(entry + 8, start, little);
  for (const [i, value] of values.entries()) {
    const at = start + size * i;
    if (size === 1) view.setUint8(at, value);
    else if (size === 2) view.setUint16(at, value, little);
    else view.setUint32(at, value, little);
  }
}

function tagsOf(
  { width, height, channels, data, description, profile }: WritableTiffPage,
  photo: readonly CopiedTag[],
): { tags: (Tag | CopiedTag)[]; directory: number; length: number } {
  if (data.length !== width * height * channels)
    throw new RangeError(`encodeTiff: ${width}×${height}×${channels} needs ${width * height * channels} values, got ${data.length}`);
  const [format, bits] = SAMPLES[data.constructor.name as keyof typeof SAMPLES];
  const each = (value: number): number[] => Array.from({ length: channels }, () => value);
  const text = description === undefined ? [] : [...new TextEncoder().encode(description), 0];
  const own: Tag[] = [
    { tag: 256, type: 4, values: [width] },
    { tag: 257, type: 4, values: [height] },
    { tag: 258, type: 3, values: each(bits) },
    { tag: 259, type: 3, values: [1] }, // no compression
    { tag: 262, type: 3, values: [channels === 3 ? 2 : 1] },
    ...(text.length > 0 ? [{ tag: 270, type: 2 as const, values: text }] : []),
    { tag: 273, type: 4, values: [0] }, // strip offset, filled in when the place is known
    { tag: 277, type: 3, values: [channels] },
    { tag: 278, type: 4, values: [height] },
    { tag: 279, type: 4, values: [data.byteLength] },
    { tag: 339, type: 3, values: each(format) },
    ...(profile ? [{ tag: 34675, type: 7 as const, values: profile }] : []),
  ];
  const taken = new Set(own.map(({ tag }) => tag));
  const tags = [...own, ...photo.filter(({ tag }) => !taken.has(tag))].sort((a, b) => a.tag - b.tag);
  const directory = 2 + 12 * tags.length + 4;
  const outside = own.map(({ type, values }) => TYPE_SIZE[type] * values.length).filter((size) => size > 4);
  return { tags, directory, length: directory + outside.reduce((sum, size) => sum + even(size), 0) + even(data.byteLength) };
}
