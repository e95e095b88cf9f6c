import type { Image, Size, StoredImage } from "../image/image.ts";
import { readPhotoFacts, type PhotoFacts } from "../io/exif.ts";
import { photoMetadata, type PhotoMetadata } from "../io/photoMetadata.ts";
import { turnUpright } from "../image/orient.ts";
import { resize } from "../image/resize.ts";
import { FormatError } from "../io/formatError.ts";
import { pixelsToImage } from "../io/png.ts";
import { RAW_NAME } from "../io/raw.ts";
import { tiffImage, type TiffPage } from "../io/tiff.ts";
import type { Camera, FocusSource, Unit } from "./stackFormat.ts";
import type { Space } from "../image/depthMap.ts";
import { focalStack, type FocalStack } from "./focalStack.ts";
import { findFocus, type Focus, type FocusOptions, type Frame } from "./focus.ts";
import { findFrames, type FrameSet } from "./frames.ts";
import type { Listing } from "./listing.ts";
import type { ReadOptions, StackFiles } from "./stackFiles.ts";

export type { PhotoMetadata };

/** A stack, near to far, read one plane at a time: never more than one image in memory. */
export interface StackSource {
  /** The folder or file it came from. */
  readonly name: string;
  /** One for each plane; the same file for all if it has many pages. */
  readonly files: readonly string[];
  /** Which image each plane is, in the order of the file names, which is the order in which distances are given. */
  readonly frames: readonly number[];
  /** The focus distance of each plane as written, where it was found, and its unit. */
  readonly focus: readonly { readonly value: number; readonly source: FocusSource; readonly unit: Unit }[];
  /** Metres where `space` is "depth" or "position". */
  readonly focusDistances: readonly number[];
  readonly space: Space;
  readonly unit: Unit;
  /** Where `space` is "position": the microscope's z [m] at the first plane, which depth counts from. */
  readonly zeroPosition?: number;
  /** Upright. */
  readonly size: Size;
  readonly channels: 1 | 3;
  /** Bits per sample of the files, so that results can be written without loss. */
  readonly bits: 8 | 16;
  readonly orientation: number;
  readonly camera?: Camera;
  /** Width of a pixel in the object [m], where a microscope states it. */
  readonly pixelSize?: number;
  /** Assumptions made and things ignored, for the user. */
  readonly notes: readonly string[];
  readPlane(plane: number): Promise<Image>;
  /** The same, as integers where its file stores them. */
  readStored(plane: number): Promise<Image | StoredImage>;
  /** EXIF and ICC profile of the plane's file, for an image made from it. */
  readMetadata(plane: number): Promise<PhotoMetadata>;
  /** The same image with at most `maxPixels`, in the size that `scaledSize` gives. `signal` stops the reading, where that takes long. */
  readScaled(plane: number, maxPixels: number, signal?: AbortSignal): Promise<Image>;
}

export interface OpenOptions extends FocusOptions {
  /** Images that are not used, by their index in the order of the file names; distances are given for the others only. */
  readonly leaveOut?: readonly number[];
}

/** Finds the planes of a stack among its files, their order and distances. Only headers are read. */
export async function openListing(
  listing: Listing,
  files: StackFiles,
  { leaveOut = [], ...options }: OpenOptions = {},
): Promise<StackSource> {
  const found = await findFrames(listing, files);
  const kept = [...found.frames.keys()].filter((frame) => !leaveOut.includes(frame));
  const set = { ...found, frames: kept.map((frame) => found.frames[frame] as Frame) };
  const facts = (file: string): Promise<PhotoFacts> => photoFacts(files, file);
  const focus = await findFocus({ ...set, listing, readText: (file) => files.readText(file), facts: () => allFacts(set, facts) }, options);
  const camera = listing.json?.content.camera ?? cameraFrom(await facts(set.frames[0]?.file ?? ""), set.size);
  return stackSource({
    name: listing.name,
    set,
    kept,
    files,
    focus,
    ...(camera ? { camera } : {}),
    notes: [...listing.notes, ...set.notes, ...focus.notes],
  });
}

/** The planes with these indices at full size; without indices, all. */
export async function readStack(source: StackSource, planes: readonly number[] = [...source.files.keys()]): Promise<FocalStack> {
  const images: Image[] = [];
  for (const plane of planes) images.push(await source.readPlane(plane));
  const focusDistances = planes.map((plane) => source.focusDistances[plane] as number);
  return focalStack({ images, focusDistances, space: source.space }, { minPlanes: 1 });
}

/** The same stack with its planes in another order; only for a stack in plane indices, which are then counted anew. */
export function inFocusOrder(source: StackSource, order: readonly number[]): StackSource {
  if (order.every((plane, n) => plane === n)) return source;
  const pick = <T>(list: readonly T[]): T[] => order.map((plane) => list[plane] as T);
  return {
    ...source,
    files: pick(source.files),
    frames: pick(source.frames),
    focus: pick(source.focus).map((focus, value) => ({ ...focus, value })),
    readPlane: (plane) => source.readPlane(order[plane] ?? plane),
    readStored: (plane) => source.readStored(order[plane] ?? plane),
    readMetadata: (plane) => source.readMetadata(order[plane] ?? plane),
    readScaled: (plane, ...how) => source.readScaled(order[plane] ?? plane, ...how),
  };
}

/** The largest size of the same shape with at most `maxPixels`. */
export function scaledSize({ width, height }: Size, maxPixels: number): Size {
  const factor = Math.min(1, Math.sqrt(maxPixels / (width * height)));
  const side = (length: number): number => Math.max(1, Math.floor(length * factor * (1 + 1e-9))); // rounding may have left 767.999…
  return factor === 1 ? { width, height } : { width: side(width), height: side(height) };
}

interface Parts {
  readonly name: string;
  readonly set: FrameSet;
  /** Indices of the set's frames in the order of the file names. */
  readonly kept: readonly number[];
  readonly files: StackFiles;
  readonly focus: Focus;
  readonly camera?: Camera;
  readonly notes: readonly string[];
}

function stackSource({ name, set, kept, files, focus, camera, notes }: Parts): StackSource {
  const { size, channels, bits, orientation, pixelSize } = set;
  const read = async (plane: number, how: Pick<ReadOptions, "size" | "signal"> = {}): Promise<Image> => {
    const found = focus.planes[plane];
    if (!found) throw new RangeError(`${name}: there is no plane ${plane}; the stack has ${focus.planes.length}`);
    const { file, page } = found;
    const options = { orientation, ...how };
    const white = set.tiffWhite(file);
    const image =
      white === undefined
        ? await files.readImage(file, options)
        : tiffPlane(await files.readTiffPage(file, page), { ...options, file, page, white });
    return channels === 3 ? inColour(image) : image;
  };
  return {
    name,
    files: focus.planes.map(({ file }) => file),
    frames: focus.planes.map(({ frame }) => kept[frame] as number),
    focus: focus.planes.map(({ value, source }) => ({ value, source, unit: focus.unit })),
    focusDistances: focus.focusDistances,
    space: focus.space,
    unit: focus.unit,
    ...(focus.zeroPosition === undefined ? {} : { zeroPosition: focus.zeroPosition }),
    ...{ size, channels, bits, orientation, notes },
    ...(camera ? { camera } : {}),
    ...(pixelSize === undefined ? {} : { pixelSize }),
    readPlane: (plane) => read(plane),
    readStored: async (plane) => {
      const { file } = focus.planes[plane] ?? {};
      if (file === undefined || !files.readStored || set.tiffWhite(file) !== undefined) return read(plane);
      const stored = await files.readStored(file, { orientation });
      return channels === stored.channels ? stored : inColour(pixelsToImage(stored));
    },
    readMetadata: async (plane) => photoMetadata(await files.bytes(focus.planes[plane]?.file ?? ""), { ...size, channels }),
    readScaled: (plane, maxPixels, signal) => {
      const target = scaledSize(size, maxPixels);
      const isWhole = target.width === size.width && target.height === size.height;
      return read(plane, { ...(isWhole ? {} : { size: target }), signal });
    },
  };
}

/** A page of a TIFF, divided by the `white` of the whole stack, clipped to [0, 1]. */
function tiffPlane(
  stored: TiffPage,
  { file, page, white, orientation, size }: ReadOptions & { file: string; page: number; white: number },
): Image {
  const turned = turnUpright(tiffImage(stored), orientation);
  const data = turned.data;
  for (let i = 0; i < data.length; i++) {
    const value = (data[i] as number) / white;
    if (!Number.isFinite(value)) throw new FormatError(`${file}: page ${page + 1} contains the value ${data[i]}`);
    data[i] = value < 0 ? 0 : value > 1 ? 1 : value;
  }
  const image: Image = { width: turned.width, height: turned.height, channels: turned.channels === 1 ? 1 : 3, data };
  return size ? resize(image, { ...size, filter: "linear" }) : image;
}

function inColour(image: Image): Image {
  if (image.channels === 3) return image;
  const data = new Float32Array(image.data.length * 3);
  for (let i = 0; i < data.length; i++) data[i] = image.data[Math.floor(i / 3)] as number;
  return { ...image, channels: 3, data };
}

/** One after the other: each may need megabytes for a moment. */
async function allFacts({ frames }: FrameSet, read: (file: string) => Promise<PhotoFacts>): Promise<PhotoFacts[]> {
  const facts: PhotoFacts[] = [];
  for (const { file } of frames) facts.push(await read(file));
  return facts;
}

/** Cameras write their metadata well within the first megabyte, except in TIFF, HEIC and raw files, which are read whole up to 64 MB. */
async function photoFacts(files: StackFiles, file: string): Promise<PhotoFacts> {
  const whole = /\.(tiff?|hei[cf]|hif)$/i.test(file) || RAW_NAME.test(file);
  return readPhotoFacts(await files.readHead(file, whole ? 64 << 20 : 1 << 20));
}

/** Needs the focal length, the f-number and the size of the sensor; if one is missing, there is no camera. */
function cameraFrom({ focalLength, fNumber, sensorDiagonal }: PhotoFacts, size: Size): Camera | undefined {
  if (focalLength === undefined || fNumber === undefined || sensorDiagonal === undefined) return undefined;
  return { focalLength, fNumber, pixelPitch: sensorDiagonal / Math.hypot(size.width, size.height) };
}
