import type { Size } from "../image/image.ts";
import type { Image } from "../image/image.ts";
import type { TiffPage } from "../io/tiff.ts";
import type { TiffInfo } from "./tiffInfo.ts";

/** A picture before its pixels are read. Width and height as stored, before turning it upright. */
export interface PictureInfo extends Size {
  readonly orientation: number;
  readonly channels: 1 | 3;
  /** Bits a sample: up to 8, more, or floats. */
  readonly depth: "8" | "16" | "float";
  readonly tiff?: TiffInfo;
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
