import { stat } from "node:fs/promises";
import { fromFile } from "geotiff";
import type { GeoTIFF, GeoTIFFImage } from "geotiff";
import { decodingAsync } from "../io/formatError.ts";
import { readTiffPage, tiffPages } from "../io/tiff.ts";
import type { TiffPage } from "../io/tiff.ts";

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

/** Reads the directories only, however large the file. */
export async function probeTiff(file: string): Promise<TiffInfo> {
  return withTiff(file, async (tiff) => {
    const pages: TiffPageInfo[] = [];
    let description = "";
    for await (const page of tiffPages(tiff)) {
      if (pages.length === 0) description = await describe(page);
      pages.push(await pageInfo(page, pages.length));
    }
    return { pages, description };
  });
}

/** One page at full size, as stored; nothing else of the file is held. */
export async function readTiffPlane(file: string, page: number): Promise<TiffPage> {
  return withTiff(file, async (tiff) => readTiffPage(await tiff.getImage(page), (await stat(file)).size));
}

async function withTiff<T>(file: string, use: (tiff: GeoTIFF) => Promise<T>): Promise<T> {
  return decodingAsync({ file, format: "TIFF" }, async () => {
    const tiff = await fromFile(file);
    try {
      return await use(tiff);
    } finally {
      await tiff.close();
    }
  });
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
