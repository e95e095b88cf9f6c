import { readFile } from "node:fs/promises";
import type { Image } from "../image/image.ts";
import { decodingAsync, FormatError } from "../io/formatError.ts";
import { pixelsToImage } from "../io/png.ts";
import { decodeTiff, tiffImage } from "../io/tiff.ts";

/** The bytes of a file, with an error that says which one could not be read. */
export async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const reasons: Readonly<Record<string, string>> = { ENOENT: "there is no such file", EISDIR: "is a folder, not a file" };
    throw new FormatError(`${file}: ${reasons[(cause as NodeJS.ErrnoException).code ?? ""] ?? String(cause)}`, { cause });
  }
}

/** Reads jpg, png, webp or the first page of a tif, turned upright, grey or RGB in [0, 1], 16 bits kept. */
export async function readImage(file: string): Promise<Image> {
  const bytes = await readBytes(file);
  if (/\.tiff?$/i.test(file)) {
    const [page] = await decodeTiff(bytes, file);
    if (!page) throw new FormatError(`${file}: the TIFF has no pages`);
    return tiffImage(page);
  }
  return decodingAsync({ file, format: "picture" }, () => decodeWithSharp(bytes));
}

/** sharp gives 8 bits unless asked in the very colour space of the file. */
async function decodeWithSharp(bytes: Uint8Array): Promise<Image> {
  const { default: sharp } = await import("sharp"); // packed sets are read without it
  const picture = sharp(bytes, { failOn: "truncated", limitInputPixels: 1e9 });
  const { depth, space } = await picture.metadata();
  const grey = space === "b-w" || space === "grey16";
  const deep = depth === "ushort";
  const upright = picture.autoOrient().removeAlpha();
  const decoded = await upright
    .toColourspace(deep ? (grey ? "grey16" : "rgb16") : grey ? "b-w" : "srgb")
    .raw({ depth: deep ? "ushort" : "uchar" })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = decoded.info;
  const { buffer, byteOffset, length } = decoded.data;
  const data = deep ? new Uint16Array(buffer.slice(byteOffset, byteOffset + length)) : new Uint8Array(buffer, byteOffset, length);
  return pixelsToImage({ width, height, channels, data });
}
