import type { DepthMap } from "../image/depthMap.ts";
import type { Image } from "../image/image.ts";
import type { Sample } from "./dataset.ts";

export interface Window {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
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

function checkWindow({ left, top, width, height }: Window, within: { width: number; height: number }): void {
  const whole = [left, top, width, height].every(Number.isInteger);
  if (!whole || left < 0 || top < 0 || width < 1 || height < 1 || left + width > within.width || top + height > within.height)
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

/** The same window of every plane and of the depth. */
export function cropSample(sample: Sample, window: Window): Sample {
  const images = sample.stack.images.map((image) => cropImage(image, window));
  return { ...sample, stack: { ...sample.stack, images }, trueDepth: cropDepth(sample.trueDepth, window) };
}

/** The middle of a frame; the odd pixel goes to the right and bottom, as in Python's integer division. */
export function centralWindow(frame: { width: number; height: number }, { width, height }: { width: number; height: number }): Window {
  return { left: Math.floor((frame.width - width) / 2), top: Math.floor((frame.height - height) / 2), width, height };
}

/** Mirrors the right and bottom edges outwards without repeating the edge pixel; the added depth is 0 and invalid. */
export function padSample(sample: Sample, { width, height }: { width: number; height: number }): Sample {
  const { trueDepth } = sample;
  if (width < trueDepth.width || height < trueDepth.height || width > 2 * trueDepth.width - 1 || height > 2 * trueDepth.height - 1)
    throw new RangeError(`pad: cannot reflect ${trueDepth.width}×${trueDepth.height} to ${width}×${height}`);
  const images = sample.stack.images.map((image) => padImage(image, { width, height }));
  const values = new Float32Array(width * height);
  const valid = new Uint8Array(width * height);
  for (let y = 0; y < trueDepth.height; y++) {
    const row = y * trueDepth.width;
    values.set(trueDepth.values.subarray(row, row + trueDepth.width), y * width);
    valid.set(trueDepth.valid.subarray(row, row + trueDepth.width), y * width);
  }
  return { ...sample, stack: { ...sample.stack, images }, trueDepth: { ...trueDepth, width, height, values, valid } };
}

function padImage(image: Image, { width, height }: { width: number; height: number }): Image {
  const { channels } = image;
  const mirror = (i: number, size: number): number => (i < size ? i : 2 * (size - 1) - i);
  const data = new Float32Array(width * height * channels);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const from = (mirror(y, image.height) * image.width + mirror(x, image.width)) * channels;
      for (let c = 0; c < channels; c++) data[(y * width + x) * channels + c] = image.data[from + c] as number;
    }
  return { ...image, width, height, data };
}
