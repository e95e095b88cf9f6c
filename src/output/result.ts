import type { DepthMap } from "../image/depthMap.ts";
import type { Image } from "../image/image.ts";
import type { Camera } from "../stack/stackFormat.ts";

/** Unit of depth values: metres, dioptres, light-field disparity, or plane index if nothing metric is known. */
export type DepthUnit = "m" | "dpt" | "disparity" | "index";

/** The result for a stack. Every map has the size of `depth` unless stated otherwise. */
export interface DepthResult {
  readonly depth: DepthMap;
  readonly unit: DepthUnit;
  /** In [0, 1]. */
  readonly confidence?: Float32Array;
  /** Expected error ±e in the unit of the depth: about 68 % of the pixels lie within it. How far beyond the planes a pixel lies is no part of it. */
  readonly error?: Float32Array;
  /** −1 at the first plane or nearer, +1 at the last or farther, else 0, as where it is filled. */
  readonly beyond?: Int8Array;
  /** 1 where the images show too little to measure, so that more than half of the depth was carried in from around; absent if nothing was to be filled. */
  readonly filled?: Uint8Array;
  /** May be larger or smaller than the depth map. */
  readonly allInFocus?: Image;
  /** Bits per sample of the input images; the all-in-focus image is written with as many. */
  readonly bits?: 8 | 16;
  /** EXIF of the photograph that the others were aligned to, for the all-in-focus image. */
  readonly exif?: Uint8Array;
  /** Its ICC profile: how the numbers of the all-in-focus image look. Without one they are sRGB. */
  readonly profile?: Uint8Array;
  /** The plane that is focused nearest to the depth of each pixel: its place, from 0, among all images from near to far, those that were left out included. */
  readonly planeIndex?: Uint8Array | Uint16Array;
  /** Focus probability [planes, height, width], in its own size. */
  readonly probability?: { readonly planes: number; readonly width: number; readonly height: number; readonly data: Float32Array };
  /** `pixelPitch` is that of the depth map's pixels. */
  readonly camera?: Camera;
  /** Width of a pixel of the depth map in the object [m], for microscopes, which have no perspective. */
  readonly pixelSize?: number;
  /** Least and greatest value of the colour scale. Default: those of the valid values. */
  readonly range?: readonly [number, number];
}

/** Least and greatest value; [Infinity, -Infinity] of none. NaN is ignored. */
export function extent(values: Float32Array): [number, number] {
  let [least, greatest] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return [least, greatest];
}

/** Least and greatest valid value; [0, 0] if no pixel is valid. */
export function validRange({ values, valid }: DepthMap): [number, number] {
  let [least, greatest] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!valid[i] || !Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return least <= greatest ? [least, greatest] : [0, 0];
}

export const isKnown = ({ values, valid }: DepthMap, pixel: number): boolean => valid[pixel] === 1 && Number.isFinite(values[pixel]);

/** The values, NaN where unknown. */
export function valuesOrNaN(depth: DepthMap): Float32Array {
  const values = depth.values.slice();
  for (let pixel = 0; pixel < values.length; pixel++) if (!isKnown(depth, pixel)) values[pixel] = NaN;
  return values;
}

/** The share of pixels whose depth is known. */
export function validFraction(depth: DepthMap): number {
  let known = 0;
  for (let pixel = 0; pixel < depth.values.length; pixel++) if (isKnown(depth, pixel)) known++;
  return known / depth.values.length;
}

/** An object with some of its maps replaced. The others are not read, as a spread would: they may be computed when they are. */
export const withMaps = <T extends object>(maps: T, replaced: Partial<T>): T =>
  Object.defineProperties({} as T, { ...Object.getOwnPropertyDescriptors(maps), ...Object.getOwnPropertyDescriptors(replaced) });
