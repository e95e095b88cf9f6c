import type { Image, Size, StoredImage } from "../image/image.ts";
import { FormatError } from "../io/formatError.ts";
import type { ImageHeader } from "../io/imageHeader.ts";
import type { ByteSource } from "../io/tiffDirectories.ts";
import type { TiffInfo, TiffPage } from "../io/tiff.ts";

/** An image before its pixels are read. Width and height as stored, before it is turned upright. */
export interface ImageInfo extends Omit<ImageHeader, "depth"> {
  readonly orientation: number;
  /** Bits per sample: up to 8, more, or floats. */
  readonly depth: "8" | "16" | "float";
  readonly tiff?: TiffInfo;
  /** What a person should know about how the file is read. */
  readonly note?: string;
}

/** The first page of a TIFF stands for the file. */
export function tiffImageInfo(tiff: TiffInfo, file: string): ImageInfo {
  const [page] = tiff.pages;
  if (!page) throw new FormatError(`${file}: the TIFF has no pages`);
  return { ...page, depth: page.isFloat ? "float" : page.bits > 8 ? "16" : "8", tiff };
}

/** Bytes of a stack.json or a list of distances: far more than any stack needs. */
const MOST_TEXT = 16 << 20;

/** Called before the text is read. */
export function checkTextSize(file: string, bytes: number): void {
  if (bytes > MOST_TEXT)
    throw new FormatError(`${file}: has ${Math.round(bytes / 2 ** 20)} MB; text with focus distances has at most ${MOST_TEXT >> 20} MB`);
}

export interface ReadOptions {
  /** The orientation of the whole stack, which may differ from the one in this file. */
  readonly orientation: number;
  /** Upright size of the result; by default the image's own. */
  readonly size?: Size;
  /** Stops the reading, where that takes long. */
  readonly signal?: AbortSignal | undefined;
}

/** Where the files of a stack are and what decodes them: a disk and sharp in Node, the user's own files and the browser in a page. */
export interface StackFiles {
  readText(file: string): Promise<string>;
  /** The first bytes of a file; fewer if it is shorter. */
  readHead(file: string, length: number): Promise<Uint8Array>;
  /** The file, piece by piece. */
  bytes(file: string): Promise<ByteSource>;
  /** What the headers say; enough to refuse a stack before any of it is decoded. */
  probe(file: string): Promise<ImageInfo>;
  /** Anything but a TIFF: grey or RGB in [0, 1], upright, alpha dropped. */
  readImage(file: string, options: ReadOptions): Promise<Image>;
  /** The same as its file stores it, where that needs less memory and time. */
  readonly readStored?: (file: string, options: ReadOptions) => Promise<StoredImage>;
  /** One page of a TIFF at full size, as stored. */
  readTiffPage(file: string, page: number): Promise<TiffPage>;
}
