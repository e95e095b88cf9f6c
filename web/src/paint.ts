import type { Plane } from "../../src/image/boxFilter.ts";
import { sizeOf, type Image, type Size } from "../../src/image/image.ts";
import { bytesToSrgb } from "../../src/io/profileColours.ts";
import type { Canvas } from "../../src/output/canvas.ts";
import { paintDepth, type Coloring } from "../../src/output/colorPicture.ts";
import { colorTable } from "../../src/output/colorMap.ts";
import type { DepthResult } from "../../src/output/result.ts";
import { resizeNearest } from "../../src/image/nearest.ts";
import { shrinkDepth, shrinkImage, sizeWithin } from "../../src/image/shrink.ts";
import type { Region } from "./state/viewport.ts";

/** Pixels for a canvas: four bytes each. */
export interface Painting extends Size {
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

/** A picture in full size, of which any part can be painted: no larger than a screen, and every pixel where the part is small enough. */
export interface PictureSource extends Size {
  paint(region?: Region): Painting;
}

/** Largest side of a painting, enough for a screen. */
const SHOWN_SIDE = 1600;

export type DepthColors = Coloring & Required<Pick<DepthResult, "range">>;

export function depthSource({ depth }: Pick<DepthResult, "depth">, { range, hatched, ...coloring }: DepthColors): PictureSource {
  const { width, height } = depth;
  return {
    width,
    height,
    paint(region = { left: 0, top: 0, width, height }) {
      const part = { ...depth, ...sizeOf(region), values: cut(depth.values, depth, region), valid: cut(depth.valid, depth, region) };
      const size = sizeWithin(region, SHOWN_SIDE);
      const marks = hatched && { hatched: resizeNearest(cut(hatched, depth, region), region, size) };
      return opaque(paintDepth({ depth: shrinkDepth(part, size), range }, { ...coloring, ...marks }));
    },
  };
}

/** `profile`: the image's own, if it is not in sRGB. */
export function imageSource(image: Image, profile?: Uint8Array): PictureSource {
  const { width, height, channels, data } = image;
  return {
    width,
    height,
    paint(region) {
      const part = region ? { ...sizeOf(region), channels, data: cut(data, image, region, channels) } : image;
      return pixelsOf(shrinkImage(part, sizeWithin(part, SHOWN_SIDE)), profile);
    },
  };
}

export function valueSource(plane: Plane): PictureSource {
  const { width, height, values } = plane;
  return {
    width,
    height,
    paint: (region) => paintValues(region ? { ...sizeOf(region), values: cut(values, plane, region) } : plane),
  };
}

/** The image in four bytes per pixel, in sRGB; `profile` says what its own numbers are, if not that. */
export function pixelsOf({ width, height, channels, data }: Image, profile?: Uint8Array): Painting {
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let i = 0; i < width * height; i++)
    for (let c = 0; c < 3; c++) pixels[4 * i + c] = 255 * (data[i * channels + (channels === 3 ? c : 0)] as number);
  if (profile && channels === 3) bytesToSrgb(pixels, profile, 4);
  return { width, height, data: pixels };
}

/** A map of numbers in viridis, `range` from the first to the last colour. */
export function paintValues({ width, height, values }: Plane, [least, greatest]: readonly [number, number] = [0, 1]): Painting {
  const table = colorTable("viridis");
  const size = sizeWithin({ width, height }, SHOWN_SIDE);
  const data = new Uint8ClampedArray(size.width * size.height * 4).fill(255);
  const span = greatest - least || 1;
  for (let y = 0; y < size.height; y++) {
    const row = Math.floor(((y + 0.5) * height) / size.height) * width;
    for (let x = 0; x < size.width; x++) {
      const value = ((values[row + Math.floor(((x + 0.5) * width) / size.width)] as number) - least) / span;
      const shade = Math.round(255 * Math.min(Math.max(value, 0), 1));
      for (let c = 0; c < 3; c++) data[4 * (y * size.width + x) + c] = table[3 * shade + c] as number;
    }
  }
  return { ...size, data };
}

/** Three bytes per pixel to four. */
export function opaque({ width, height, data: colours }: Canvas): Painting {
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let i = 0; i < width * height; i++) for (let c = 0; c < 3; c++) data[4 * i + c] = colours[3 * i + c] as number;
  return { width, height, data };
}

/** The rows and columns of a region, `channels` values per pixel. */
function cut<T extends Float32Array | Uint8Array>(values: T, { width }: Size, region: Region, channels = 1): T {
  const part = values.slice(0, region.width * region.height * channels) as T;
  for (let y = 0; y < region.height; y++) {
    const from = ((region.top + y) * width + region.left) * channels;
    part.set(values.subarray(from, from + region.width * channels), y * region.width * channels);
  }
  return part;
}
