import type { GeoTIFF } from "geotiff";

import { resize } from "../../../src/image/resize.ts";
import type { Image } from "../../../src/image/image.ts";
import { readPhotoFacts } from "../../../src/io/exif.ts";
import { decodingAsync, FormatError } from "../../../src/io/formatError.ts";
import { loadGeotiff } from "../../../src/io/geotiff.ts";
import { turnUpright, uprightSize } from "../../../src/image/orient.ts";
import { decodeHeic } from "../../../src/io/heic.ts";
import { isHeif, readHeifHeader } from "../../../src/io/heif.ts";
import { imageHeader, isPng } from "../../../src/io/imageHeader.ts";
import { decodePngPixels, pixelsToImage } from "../../../src/io/png.ts";
import { isTiff, readTiffPage, tiffInfo } from "../../../src/io/tiff.ts";
import { checkTiffDirectories } from "../../../src/io/tiffDirectories.ts";
import { isRaw } from "../../../src/io/raw.ts";
import { unreadFormat } from "../../../src/stack/listing.ts";
import { previewOf, probeRaw } from "../../../src/stack/rawImage.ts";
import { checkTextSize, tiffImageInfo, type ImageInfo, type ReadOptions, type StackFiles } from "../../../src/stack/stackFiles.ts";
import { decodeRaw } from "../raw/decodeRaw.ts";
import type { UserFile } from "./protocol.ts";

/** Cameras write their metadata well within this many bytes. */
const HEAD = 1 << 20;

export interface Probing {
  /** Called for each header read. */
  readonly onProbed?: () => void;
  /** Of the queued call being answered: stops the development of a raw file that is read without a signal of its own. */
  readonly signal?: () => AbortSignal | undefined;
}

/** Files a person gave to the page. Images are decoded one at a time, on demand. */
export function userFiles(given: readonly UserFile[], { onProbed, signal }: Probing = {}): StackFiles {
  const files = new Map(given.map(({ path, file }) => [path, file]));
  const probed = new Map<string, Promise<ImageInfo>>();
  const find = (path: string): File => {
    const file = files.get(path);
    if (!file) throw new FormatError(`${path}: there is no such file`);
    return file;
  };
  const readHead = (path: string, length: number): Promise<Uint8Array> => bytesOf(path, find(path).slice(0, length));
  const imageHead = async (path: string): Promise<Uint8Array> => {
    const head = await readHead(path, HEAD);
    if (head.length === 0) throw new FormatError(`${path}: the file is empty`);
    if (isGif(head)) throw unreadFormat(path, "gif"); // the browser would read it, whatever its name
    return head;
  };
  const withTiff = <T>(path: string, use: (tiff: GeoTIFF) => Promise<T>): Promise<T> =>
    decodingAsync({ file: path, format: "TIFF" }, async () => {
      const file = find(path);
      const read = (offset: number, length: number): Promise<Uint8Array> => bytesOf(path, file.slice(offset, offset + length));
      await checkTiffDirectories({ size: file.size, read });
      const { fromBlob } = await loadGeotiff();
      return use(await fromBlob(file));
    });
  const probeFile = async (path: string): Promise<ImageInfo> => {
    const head = await imageHead(path);
    if (isRaw(head)) return probeRaw(path, await bytesOf(path, find(path)), (bytes) => decodeRaw(bytes, signal?.()));
    return isTiff(head) ? tiffImageInfo(await withTiff(path, tiffInfo), path) : probeImage(path, { file: find(path), head });
  };
  return {
    readText: async (path) => {
      checkTextSize(path, find(path).size);
      return find(path).text();
    },
    readHead,
    bytes: (path) => {
      const read = (offset: number, length: number): Promise<Uint8Array> => bytesOf(path, find(path).slice(offset, offset + length));
      return Promise.resolve({ size: find(path).size, read });
    },
    probe: (path) => {
      const known = probed.get(path) ?? probeFile(path).finally(onProbed);
      probed.set(path, known);
      return known;
    },
    readImage: async (path, options) =>
      readImage(path, { ...options, file: find(path), head: await imageHead(path), signal: options.signal ?? signal?.() }),
    readTiffPage: (path, page) => withTiff(path, async (tiff) => readTiffPage(await tiff.getImage(page), find(path).size)),
  };
}

const isGif = (head: Uint8Array): boolean => ["GIF87a", "GIF89a"].includes(String.fromCharCode(...head.subarray(0, 6)));

/** A file that was moved or changed after it was dropped, or that the browser may not read, is an error. */
async function bytesOf(path: string, part: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await part.arrayBuffer());
  } catch (cause) {
    throw new FormatError(`${path}: can no longer be read (${cause instanceof Error ? cause.message : String(cause)})`, { cause });
  }
}

interface Opened {
  readonly file: Blob;
  /** Its first bytes. */
  readonly head: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

async function probeImage(path: string, { file, head }: Opened): Promise<ImageInfo> {
  if (isHeif(head)) {
    const { width, height, orientation, bits } = readHeifHeader(head, path);
    return { width, height, orientation, channels: 3, depth: bits > 8 ? "16" : "8" };
  }
  const orientation = readPhotoFacts(head).orientation ?? 1;
  const header = imageHeader(head, path);
  if (header) return { ...header, orientation };
  return decodingAsync({ file: path, format: "image" }, async () => {
    const bitmap = await createImageBitmap(file, AS_STORED);
    const size = uprightSize(bitmap, orientation); // the browser has turned it already; this turns it back
    bitmap.close();
    return { ...size, orientation, channels: 3, depth: "8" };
  });
}

/** Numbers as in the file: no colour management, no alpha mixed in. "from-image" is the one orientation all browsers agree on. */
const AS_STORED = { imageOrientation: "from-image", colorSpaceConversion: "none", premultiplyAlpha: "none" } as const;

type Wanted = Opened & Pick<ReadOptions, "orientation">;

async function readImage(path: string, { size, ...wanted }: ReadOptions & Opened): Promise<Image> {
  const image = await readWhole(path, wanted);
  return size ? resize(image, { ...size, filter: "linear" }) : image;
}

async function readWhole(path: string, wanted: Wanted): Promise<Image> {
  const { file, head, orientation } = wanted;
  if (isHeif(head)) return pixelsToImage(await readHeic(path, wanted));
  if (isRaw(head)) return readRaw(path, wanted);
  if (isPng(head)) return pixelsToImage(turned(decodePngPixels(await bytesOf(path, file), path), orientation));
  return decodingAsync({ file: path, format: "image" }, () => readBitmap(path, wanted));
}

async function readRaw(path: string, { file, orientation, signal }: Wanted): Promise<Image> {
  const bytes = await bytesOf(path, file);
  const raw = await decodeRaw(bytes, signal);
  if (raw) return pixelsToImage(turned(raw, orientation));
  const { jpeg } = previewOf(path, bytes);
  const preview = new Blob([jpeg as Uint8Array<ArrayBuffer>], { type: "image/jpeg" });
  return decodingAsync({ file: path, format: "image" }, () =>
    readBitmap(path, { file: preview, head: jpeg.subarray(0, HEAD), orientation }),
  );
}

/** Browsers other than Safari have no decoder of their own; libheif, 2 MB, is fetched by the first such file. */
async function readHeic(path: string, { file, head, orientation }: Wanted): Promise<Pixels> {
  const { orientation: own } = readHeifHeader(head, path);
  const upright = await decodeHeic(await bytesOf(path, file), path);
  return own === orientation ? upright : turned(turned(upright, INVERSE[own] ?? own), orientation);
}

/** The turn that undoes a turn; the others undo themselves. */
const INVERSE: Readonly<Record<number, number>> = { 6: 8, 8: 6 };

type Pixels = Parameters<typeof pixelsToImage>[0];

const turned = (pixels: Pixels, orientation: number): Pixels => ({
  ...turnUpright<Uint8Array | Uint16Array>(pixels, orientation),
  channels: pixels.channels,
});

async function readBitmap(path: string, { file, head, orientation }: Wanted): Promise<Image> {
  const bitmap = await createImageBitmap(file, AS_STORED);
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error(`this browser cannot hold an image of ${width}×${height} pixels`);
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  const { data } = context.getImageData(0, 0, width, height);
  const own = readPhotoFacts(head).orientation ?? 1;
  const upright: Pixels = { width, height, channels: 4, data: new Uint8Array(data.buffer) };
  const right = own === orientation ? upright : turned(turned(upright, INVERSE[own] ?? own), orientation);
  return imageHeader(head, path)?.channels === 1 ? firstChannel(right) : pixelsToImage(right);
}

/** A grey image that the browser copied to red, green and blue. */
function firstChannel({ width, height, data }: Pixels): Image {
  const grey = new Float32Array(width * height);
  for (let i = 0; i < grey.length; i++) grey[i] = (data[4 * i] as number) / 255;
  return { width, height, channels: 1, data: grey };
}
