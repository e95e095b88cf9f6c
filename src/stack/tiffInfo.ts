import type { GeoTIFF, GeoTIFFImage } from "geotiff";
import { tiffPages } from "../io/tiff.ts";

/** A page before its pixels are read. */
export interface TiffPageInfo {
  readonly page: number;
  readonly width: number;
  readonly height: number;
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
  /** The ImageDescription of the first page; OME-XML and ImageJ's notes are there. */
  readonly description: string;
}

/** Whether a file that begins like this is a TIFF, whatever its name says. */
export function isTiff([a, b, c, d]: Uint8Array): boolean {
  return (a === 0x49 && b === 0x49 && (c === 42 || c === 43) && d === 0) || (a === 0x4d && b === 0x4d && c === 0 && (d === 42 || d === 43));
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
  return String(await page.fileDirectory.loadValue("ImageDescription")).replace(/\0+$/, "");
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
