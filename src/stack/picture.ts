import { open, readFile } from "node:fs/promises";
import sharp from "sharp";
import { readBytes } from "./readImage.ts";
import type { Image } from "../image/image.ts";
import { decodingAsync, FormatError } from "../io/formatError.ts";
import { turnUpright, uprightSize } from "../image/orient.ts";
import { pixelsToImage } from "../io/png.ts";
import type { PictureInfo, ReadOptions, StackFiles } from "./stackFiles.ts";
import { probeTiff, readTiffPlane } from "./tiffFile.ts";
import { isTiff } from "./tiffInfo.ts";

const SHARP_OPTIONS = { failOn: "truncated", limitInputPixels: 1e9 } as const;

/** The first bytes of a file: fewer if it is shorter. */
async function readHead(file: string, length: number): Promise<Uint8Array> {
  try {
    const handle = await open(file);
    try {
      const wanted = Math.min(length, (await handle.stat()).size);
      const { buffer, bytesRead } = await handle.read(new Uint8Array(wanted), 0, wanted, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const reason = { ENOENT: "there is no such file", EISDIR: "is a folder, not a picture", ELOOP: "is a link that leads back to itself" }[
      code
    ];
    throw new FormatError(`${file}: ${reason ?? `cannot be read (${code})`}`, { cause });
  }
}

/** What the headers say; enough to refuse a stack before any of it is decoded. */
async function probePicture(file: string): Promise<PictureInfo> {
  if (isTiff(await readHead(file, 4))) {
    const tiff = await probeTiff(file);
    const [page] = tiff.pages;
    if (!page) throw new FormatError(`${file}: the TIFF has no pages`);
    return { ...page, depth: page.isFloat ? "float" : page.bits > 8 ? "16" : "8", tiff };
  }
  const bytes = await readBytes(file);
  if (bytes.length === 0) throw new FormatError(`${file}: the file is empty`);
  return decodingAsync({ file, format: "picture" }, async () => {
    const { width, height, orientation = 1, space, depth } = await sharp(bytes, SHARP_OPTIONS).metadata();
    return { width, height, orientation, channels: isGrey(space) ? 1 : 3, depth: depth === "ushort" ? "16" : "8" };
  });
}

const isGrey = (space: string): boolean => space === "b-w" || space === "grey16";

/** jpg, png, webp, avif …: decoded by sharp, grey or RGB in [0, 1], 16 bits kept, alpha dropped, CMYK converted to sRGB. */
async function readPicture(file: string, { orientation, size }: ReadOptions): Promise<Image> {
  const bytes = await readBytes(file);
  return decodingAsync({ file, format: "picture" }, async () => {
    const picture = sharp(bytes, SHARP_OPTIONS);
    const { space, depth, orientation: own = 1 } = await picture.metadata();
    const deep = depth === "ushort";
    const upright = own === orientation ? picture.autoOrient() : picture; // autoOrient would follow the file's own
    const target = size && (own === orientation ? size : uprightSize(size, orientation));
    const scaled = target ? upright.resize({ ...target, fit: "fill", kernel: "linear" }) : upright;
    // sharp gives 8 bits unless asked in the very colour space of the file.
    const { data, info } = await scaled
      .removeAlpha()
      .toColourspace(deep ? (isGrey(space) ? "grey16" : "rgb16") : isGrey(space) ? "b-w" : "srgb")
      .raw({ depth: deep ? "ushort" : "uchar" })
      .toBuffer({ resolveWithObject: true });
    const { buffer, byteOffset, length } = data;
    const values = deep ? new Uint16Array(buffer.slice(byteOffset, byteOffset + length)) : new Uint8Array(buffer, byteOffset, length);
    const decoded = { width: info.width, height: info.height, channels: info.channels, data: values };
    const turned = own === orientation ? decoded : turnUpright<Uint8Array | Uint16Array>(decoded, orientation);
    return pixelsToImage({ ...turned, channels: info.channels });
  });
}

/** Files on a disk. */
export const diskFiles: StackFiles = { readText: (file) => readFile(file, "utf8"), readHead, probePicture, readPicture, readTiffPlane };
