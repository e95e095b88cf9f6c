import { decodeSrgb } from "../../../src/image/srgb.ts";
import type { Image } from "../../../src/image/image.ts";
import { isKnown } from "../../../src/output/result.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { shrinkDepth, shrinkImage, sizeWithin } from "../../../src/image/shrink.ts";
import { pixelsOf } from "../paint.ts";
import { lensFor, photographedAt, type LensSetting } from "./lens.ts";

/** A result prepared for refocusing at display size. */
export interface RefocusPlan {
  readonly width: number;
  readonly height: number;
  /** The all-in-focus image in linear light, which a lens adds up. Three channels. */
  readonly light: Float32Array;
  /** Nearness of every pixel; where depth is unknown, that of a known neighbour. */
  readonly nearness: Float32Array;
  /** r = gain · (nearness - focus), in pixels of the plan; `ratio` is the aperture over that of the photographs. */
  blur(setting: LensSetting): { readonly gain: number; readonly focus: number; readonly ratio: number };
}

export function planRefocus(result: DepthResult, { side }: { side: number }): RefocusPlan {
  const { allInFocus, profile } = result;
  if (!allInFocus) throw new Error("refocusing needs the all-in-focus image, which this result does not have");
  const size = sizeWithin(allInFocus.width < result.depth.width ? allInFocus : result.depth, side);
  const depth = shrinkDepth(result.depth, size);
  const lens = lensFor(result);
  const nearness = new Float32Array(depth.values.length).fill(NaN);
  for (let i = 0; i < nearness.length; i++) if (isKnown(depth, i)) nearness[i] = lens.nearness(depth.values[i] as number);
  const isKnownAnywhere = nearness.some(Number.isFinite);
  fillHoles(nearness);
  const scale = size.width / result.depth.width;
  return {
    ...size,
    light: linearColours(shrinkImage(allInFocus, size), profile),
    nearness,
    blur: (setting) => ({
      gain: isKnownAnywhere ? scale * lens.gain(setting) : 0,
      focus: isKnownAnywhere ? lens.nearness(setting.focus) : 0,
      ratio: photographedAt(result) / setting.fNumber,
    }),
  };
}

function linearColours(image: Image, profile: Uint8Array | undefined): Float32Array {
  const { channels, data } = image;
  const pixels = data.length / channels;
  if (profile) {
    const { data: bytes } = pixelsOf(image, profile);
    return Float32Array.from({ length: 3 * pixels }, (_, i) => decodeSrgb((bytes[4 * Math.floor(i / 3) + (i % 3)] as number) / 255));
  }
  return Float32Array.from({ length: 3 * pixels }, (_, i) => decodeSrgb(data[channels === 3 ? i : Math.floor(i / 3)] as number));
}

/** Unknown values take the last known value before them, or the first one: rarely more than a margin. */
function fillHoles(values: Float32Array): void {
  const first = values.find((value) => Number.isFinite(value)) ?? 0;
  let last = first;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (Number.isFinite(value)) last = value;
    else values[i] = last;
  }
}
