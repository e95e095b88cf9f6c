import type { Image, Size } from "../../../src/image/image.ts";
import { pixelsOf } from "../paint.ts";
import { shrinkImage, sizeWithin } from "../../../src/image/shrink.ts";

/** The photographs of a stack, near to far, and after them the all-in-focus image, all of one size: layers of a texture. */
export interface Photographs extends Size {
  /** Nearness of the planes in focus, descending; see `Lens`. */
  readonly nearness: Float32Array;
  /** Four bytes per pixel, layer after layer. */
  readonly layers: Uint8Array;
}

/** Layers that every WebGL 2 implementation has, less the last one. */
export const MOST_PLANES = 64;
/** Bytes of all layers together: phones have no more to spare. */
const MOST_BYTES = 96 * 2 ** 20;

/** Undefined where the planes do not help: fewer than two, or two of the same nearness. Of too many, some are left out evenly. */
export function photographs(
  images: readonly Image[],
  { nearness, allInFocus, profile }: { nearness: readonly number[]; allInFocus: Image; profile?: Uint8Array | undefined },
): Photographs | undefined {
  const kept = evenly(images.length, MOST_PLANES);
  const order = kept.sort((a, b) => (nearness[b] as number) - (nearness[a] as number));
  const near = Float32Array.from(order, (plane) => nearness[plane] as number);
  if (order.length < 2 || near.some((value, n) => n > 0 && !(value < (near[n - 1] as number)))) return undefined;
  const first = images[0] as Image;
  const side = Math.sqrt(MOST_BYTES / 4 / (order.length + 1) / (first.width * first.height)) * Math.max(first.width, first.height);
  const size = sizeWithin(first, Math.floor(side));
  const bytes = 4 * size.width * size.height;
  const layers = new Uint8Array(bytes * (order.length + 1));
  for (const [layer, image] of [...order.map((plane) => images[plane] as Image), resized(allInFocus, size)].entries())
    layers.set(pixelsOf(shrinkImage(image, size), profile).data, layer * bytes);
  return { ...size, nearness: near, layers };
}

/** The all-in-focus image may be the smaller one; then its pixels are repeated. */
function resized(image: Image, size: Size): Image {
  if (image.width >= size.width) return shrinkImage(image, size);
  const { channels } = image;
  const data = Float32Array.from({ length: size.width * size.height * channels }, (_, i) => {
    const [pixel, channel] = [Math.floor(i / channels), i % channels];
    const row = Math.floor(((Math.floor(pixel / size.width) + 0.5) * image.height) / size.height);
    return image.data[
      (row * image.width + Math.floor((((pixel % size.width) + 0.5) * image.width) / size.width)) * channels + channel
    ] as number;
  });
  return { ...size, channels, data };
}

/** At most `most` of the indices 0 … count - 1, the first and the last among them. */
export function evenly(count: number, most: number): number[] {
  const kept = Math.min(count, most);
  return Array.from({ length: kept }, (_, i) => (kept < 2 ? 0 : Math.round((i * (count - 1)) / (kept - 1))));
}

/**
 * Which photograph shows a point of nearness u as blurred as a lens of `ratio` times the photographs' aperture focused at u_focus does:
 * blur is linear in nearness, so ratio · (u - u_focus) = u - v for the photograph focused at v. As a plane index, which may be fractional;
 * below 0 or above the last it is outside the stack, by that many planes. At ratio 1 it is the photograph focused there, for every point.
 */
export function photographOf(u: number, { focus, ratio, nearness }: { focus: number; ratio: number; nearness: Float32Array }): number {
  const v = u - ratio * (u - focus);
  const last = nearness.length - 1;
  let n = 0;
  while (n < last - 1 && v < (nearness[n + 1] as number)) n++;
  const [from, to] = [nearness[n] as number, nearness[n + 1] as number];
  return n + (from - v) / (from - to);
}
