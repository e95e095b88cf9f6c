import type { Image, Size } from "../image/image.ts";
import { FormatError } from "../io/formatError.ts";
import type { TiffInfo, TiffPage } from "../io/tiff.ts";

/** A picture before its pixels are read. Width and height as stored, before turning it upright. */
export interface PictureInfo extends Size {
  readonly orientation: number;
  readonly channels: 1 | 3;
  /** Bits a sample: up to 8, more, or floats. */
  readonly depth: "8" | "16" | "float";
  readonly tiff?: TiffInfo;
}

/** What the first page says stands for the file. */
export function tiffPicture(tiff: TiffInfo, file: string): PictureInfo {
  const [page] = tiff.pages;
  if (!page) throw new FormatError(`${file}: the TIFF has no pages`);
  return { ...page, depth: page.isFloat ? "float" : page.bits > 8 ? "16" : "8", tiff };
}

export interface ReadOptions {
  /** The orientation of the whole stack, which may not be what this file says. */
  readonly orientation: number;
  /** Upright; the size to give, if not the picture's own. */
  readonly size?: Size;
}

/** Where the files of a stack are and what decodes them: a disk and sharp in Node, the user's own files and the browser in a page. */
export interface StackFiles {
  readText(file: string): Promise<string>;
  /** The first bytes of a file: fewer if it is shorter. */
  readHead(file: string, length: number): Promise<Uint8Array>;
  /** What the headers say; enough to refuse a stack before any of it is decoded. */
  probePicture(file: string): Promise<PictureInfo>;
  /** Anything but a TIFF: grey or RGB in [0, 1], upright, alpha dropped. */
  readPicture(file: string, options: ReadOptions): Promise<Image>;
  /** One page of a TIFF at full size, as stored. */
  readTiffPlane(file: string, page: number): Promise<TiffPage>;
}
