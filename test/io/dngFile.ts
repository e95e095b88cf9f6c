import { decodeSrgb } from "../../src/image/srgb.ts";
import type { Image } from "../../src/image/image.ts";
import { writeDirectory, type ExifField } from "./exifFiles.ts";

/** XYZ (D65) to linear sRGB, row by row, as signed fractions: a camera whose sensor sees sRGB. */
const XYZ_TO_SRGB = [32404542, -15371385, -4985314, -9692660, 18760108, 415560, 556434, -2040259, 10572252];
const BLACK = 512;
const WHITE = 16383;

/**
 * An image as a 14-bit camera would store it, written from the DNG specification: linear light, one colour per pixel (red, green / green,
 * blue), no compression. `exif` goes into the EXIF directory; `compression` is what the file states.
 */
export function dngFile(
  { width, height, channels, data }: Image,
  { exif = [], orientation = 1, compression = 1 }: { exif?: readonly ExifField[]; orientation?: number; compression?: number } = {},
): Uint8Array {
  const mosaic = Uint16Array.from({ length: width * height }, (_, pixel) => {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const colour = (x & 1) + (y & 1);
    const value = data[pixel * channels + (channels === 3 ? colour : 0)] as number;
    return Math.round(BLACK + decodeSrgb(value) * (WHITE - BLACK));
  });
  const bytes = new Uint8Array(4096 + mosaic.byteLength);
  const view = new DataView(bytes.buffer);
  bytes.set([0x49, 0x49, 42, 0]);
  view.setUint32(4, 8, true);
  const exifAt = 1024;
  const main: ExifField[] = [
    [254, 4, [0]],
    [256, 4, [width]],
    [257, 4, [height]],
    [258, 3, [16]],
    [259, 3, [compression]],
    [262, 3, [32803]], // colour-filter array
    [271, 2, "DualFocus"],
    [272, 2, "Test"],
    [273, 4, [4096]],
    [274, 3, [orientation]],
    [277, 3, [1]],
    [278, 4, [height]],
    [279, 4, [mosaic.byteLength]],
    [33421, 3, [2, 2]],
    [33422, 1, [0, 1, 1, 2]],
    [34665, 4, [exifAt]],
    [50706, 1, [1, 4, 0, 0]], // DNGVersion
    [50708, 2, "DualFocus Test"],
    [50714, 3, [BLACK]],
    [50717, 3, [WHITE]],
    [50721, 10, XYZ_TO_SRGB.flatMap((value) => [value, 10000000])],
    [50728, 5, [1, 1, 1, 1, 1, 1]], // AsShotNeutral
    [50778, 3, [21]], // D65
  ];
  writeDirectory(view, main, { at: 8, free: 8 + 2 + 12 * main.length + 4, base: 0, little: true });
  writeDirectory(view, exif, { at: exifAt, free: exifAt + 2 + 12 * exif.length + 4, base: 0, little: true });
  bytes.set(new Uint8Array(mosaic.buffer), 4096);
  return bytes;
}
