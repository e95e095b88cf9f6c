import type { DepthMap } from "./depthMap.ts";
import type { Image, Size } from "./image.ts";

/** A part of an image. */
export interface Window extends Size {
  readonly left: number;
  readonly top: number;
}

/** Copies a rectangle of rows of `channels` interleaved values. */
function cropRows<T extends Float32Array | Uint8Array>(source: T, into: T, { stride, window }: { stride: number; window: Window }): T {
  const channels = into.length / (window.width * window.height);
  for (let y = 0; y < window.height; y++) {
    const start = ((window.top + y) * stride + window.left) * channels;
    into.set(source.subarray(start, start + window.width * channels), y * window.width * channels);
  }
  return into;
}

function checkWindow({ left, top, width, height }: Window, within: Size): void {
  const integers = [left, top, width, height].every(Number.isInteger);
  if (!integers || left < 0 || top < 0 || width < 1 || height < 1 || left + width > within.width || top + height > within.height)
    throw new RangeError(`crop: ${width}×${height} at (${left}, ${top}) is not inside ${within.width}×${within.height}`);
}

export function cropImage(image: Image, window: Window): Image {
  checkWindow(window, image);
  const { width, height } = window;
  const data = new Float32Array(width * height * image.channels);
  return { ...image, width, height, data: cropRows(image.data, data, { stride: image.width, window }) };
}

export function cropDepth(depth: DepthMap, window: Window): DepthMap {
  checkWindow(window, depth);
  const { width, height } = window;
  const options = { stride: depth.width, window };
  const values = cropRows(depth.values, new Float32Array(width * height), options);
  return { ...depth, width, height, values, valid: cropRows(depth.valid, new Uint8Array(width * height), options) };
}

/** The middle of a frame; the odd pixel goes to the right and bottom, as in Python's integer division. */
export function centralWindow(frame: Size, { width, height }: Size): Window {
  return { left: Math.floor((frame.width - width) / 2), top: Math.floor((frame.height - height) / 2), width, height };
}
