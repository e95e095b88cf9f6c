import { open, readFile, stat, type FileHandle } from "node:fs/promises";
import type { GeoTIFF } from "geotiff";
import type { Sharp } from "sharp";
import type { Image, StoredImage } from "../../image/image.ts";
import { turnUpright, uprightSize } from "../../image/orient.ts";
import { decodingAsync, FormatError } from "../../io/formatError.ts";
import { copyProfile } from "../../io/iccProfile.ts";
import { readPhotoFacts } from "../../io/exif.ts";
import { loadGeotiff } from "../../io/geotiff.ts";
import { imageHeader } from "../../io/imageHeader.ts";
import { pixelsToImage } from "../../io/png.ts";
import { isTiff, readTiffPage, tiffImage, tiffInfo, type TiffPage } from "../../io/tiff.ts";
import { checkTiffDirectories, type ByteSource } from "../../io/tiffDirectories.ts";
import { unreadFormat } from "../listing.ts";
import { cannotRead } from "../../system/errno.ts";
import { forSharp, isCameraFile, probeCameraFile } from "./cameraFiles.ts";
import { checkTextSize, tiffImageInfo, type ImageInfo, type ReadOptions, type StackFiles } from "../stackFiles.ts";

/** Runs `read`; what the system refuses becomes an error that names the file. */
export async function reading<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw cannotRead(file, cause);
  }
}

export const readBytes = (file: string): Promise<Uint8Array> => reading(file, () => readFile(file));

export async function readText(file: string): Promise<string> {
  const { size } = await reading(file, () => stat(file));
  checkTextSize(file, size);
  return reading(file, () => readFile(file, "utf8"));
}

const readHead = (file: string, length: number): Promise<Uint8Array> =>
  reading(file, () =>
    withHandle(file, async (handle) => {
      const { size, read } = await fileSource(handle);
      return read(0, Math.min(length, size));
    }),
  );

/** Opens the file anew for each piece: nothing has to be closed. */
const bytesOf = async (file: string): Promise<ByteSource> => {
  const { size } = await reading(file, () => stat(file));
  const read = (offset: number, length: number): Promise<Uint8Array> =>
    reading(file, () => withHandle(file, async (handle) => (await fileSource(handle)).read(offset, length)));
  return { size, read };
};

async function withHandle<T>(file: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/** An open file, read piece by piece. */
async function fileSource(handle: FileHandle): Promise<ByteSource> {
  const { size } = await handle.stat();
  const read = async (offset: number, length: number): Promise<Uint8Array> => {
    const wanted = Math.max(0, Math.min(length, size - offset));
    const { buffer, bytesRead } = await handle.read(new Uint8Array(wanted), 0, wanted, offset);
    return buffer.subarray(0, bytesRead);
  };
  return { size, read };
}

/** Runs `use` on a TIFF whose directories have been checked; with `pages`, those of the first ones. */
export async function withTiff<T>(
  file: string,
  use: (tiff: GeoTIFF, bytes: ByteSource) => Promise<T>,
  options: { readonly pages?: number } = {},
): Promise<T> {
  const { fromFile } = await loadGeotiff();
  return withHandle(file, async (handle) => {
    const bytes = await fileSource(handle);
    await checkTiffDirectories(bytes, options);
    const tiff = await fromFile(file);
    try {
      return await use(tiff, bytes);
    } finally {
      await tiff.close();
    }
  });
}

const readPage = (file: string, page: number): Promise<TiffPage> =>
  decodingAsync({ file, format: "TIFF" }, () =>
    withTiff(file, async (tiff, { size }) => readTiffPage(await tiff.getImage(page), size), { pages: page + 1 }),
  );

/** What sharp decodes for us, camera files among it; SVG and GIF, which it could decode too, are not photos. */
const DECODED: ReadonlySet<string> = new Set(["jpeg", "png", "webp", "heif", "tiff"]);

/** Runs `decode` on a file that is not a TIFF. The bytes are read here because libvips caches by file name. */
async function withSharp<T>(
  file: string,
  decode: (image: Sharp, orientation: number | undefined) => Promise<T>,
  orientation?: number,
): Promise<T> {
  const read = await readBytes(file);
  if (read.length === 0) throw new FormatError(`${file}: the file is empty`, { facts: { file } });
  const { bytes, orientation: wanted } = await forSharp(file, read, orientation);
  const { default: sharp } = await import("sharp"); // native code; loaded only by those who decode
  sharp.cache(false); // it would keep what is never asked for again
  const options = { failOn: "truncated", limitInputPixels: 1e9 } as const;
  return decodingAsync({ file, format: "image" }, async () => {
    const { space, format } = await sharp(bytes, options).metadata();
    if (!DECODED.has(format)) throw unreadFormat(file, format);
    // Numbers stay as they are where results take over the profile; any other one, of CMYK or a raw file's preview, is applied.
    const ignoreIcc = copyProfile(read, isGrey(space) ? 1 : 3) !== undefined;
    return decode(sharp(bytes, { ...options, ignoreIcc }), wanted);
  });
}

/** Where size and orientation stand: well within this many bytes. */
const HEAD = 1 << 20;

async function probe(file: string): Promise<ImageInfo> {
  const head = await readHead(file, HEAD);
  if (isCameraFile(head)) return probeCameraFile(file, head, () => readBytes(file));
  if (isTiff(head)) {
    const info = await decodingAsync({ file, format: "TIFF" }, () => withTiff(file, tiffInfo));
    return tiffImageInfo(info, file);
  }
  const header = imageHeader(head, file);
  if (header) return { ...header, orientation: readPhotoFacts(head).orientation ?? 1 };
  return withSharp(file, async (image) => {
    const { width, height, orientation = 1, space, depth } = await image.metadata();
    return { width, height, orientation, channels: isGrey(space) ? 1 : 3, depth: depth === "ushort" ? "16" : "8" };
  });
}

const isGrey = (space: string): boolean => space === "b-w" || space === "grey16";

/** jpg, png, webp, avif, heic, raw …: 16 bits kept, alpha dropped, CMYK converted to sRGB; RGB in the space of its profile. Without `orientation`, the file's own. */
const decodeImage = async (file: string, options: Partial<ReadOptions>): Promise<Image> => pixelsToImage(await decodeStored(file, options));

/** The same as integers. */
const decodeStored = (file: string, { orientation: asked, size }: Partial<ReadOptions>): Promise<StoredImage> =>
  withSharp(
    file,
    async (image, orientation) => {
      const { space, depth, orientation: own = 1 } = await image.metadata();
      const deep = depth === "ushort";
      const turn = orientation === undefined || orientation === own ? undefined : orientation;
      const upright = turn === undefined ? image.autoOrient() : image; // autoOrient goes by the file's own
      const target = size && (turn === undefined ? size : uprightSize(size, turn));
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
      return { ...turnUpright<Uint8Array | Uint16Array>(decoded, turn ?? 1), channels: info.channels < 3 ? 1 : 3 };
    },
    asked,
  );

/** One image, or the first page of a TIFF, turned upright: grey or RGB in [0, 1], 16 bits kept; floats as stored. */
export async function readImage(file: string): Promise<Image> {
  const head = await readHead(file, HEAD);
  if (!isTiff(head) || isCameraFile(head)) return decodeImage(file, {});
  const { orientation } = await probe(file);
  const stored = tiffImage(await readPage(file, 0));
  return { ...turnUpright(stored, orientation), channels: stored.channels };
}

/** Files on a disk. */
export const diskFiles: StackFiles = {
  readText,
  readHead,
  bytes: bytesOf,
  probe,
  readImage: decodeImage,
  readStored: decodeStored,
  readTiffPage: readPage,
};
