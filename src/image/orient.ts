import type { Size } from "./image.ts";

/** Interleaved values of an image. */
interface Pixels<A> extends Size {
  readonly channels: number;
  readonly data: A;
}

type PixelArray = Uint8Array | Uint16Array | Uint32Array | Int8Array | Int16Array | Int32Array | Float32Array | Float64Array;

/** Width and height after turning upright: orientations 5 to 8 lie on their side. */
export function uprightSize({ width, height }: Size, orientation: number): Size {
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}

/**
 * Turns an image upright. EXIF orientation says which edge of the scene the first row and column show:
 * 1 top left, 2 top right, 3 bottom right, 4 bottom left, 5 left top, 6 right top, 7 right bottom, 8 left bottom.
 */
export function turnUpright<A extends PixelArray>(image: Pixels<A>, orientation: number): Pixels<A> {
  if (orientation <= 1 || orientation > 8) return image;
  const { width, height, channels, data } = image;
  const size = uprightSize(image, orientation);
  const out = data.slice() as A;
  const fromRight = [2, 3, 7, 8].includes(orientation); // columns (as stored) run against the scene
  const fromBottom = [3, 4, 6, 7].includes(orientation);
  for (let y = 0; y < size.height; y++)
    for (let x = 0; x < size.width; x++) {
      const [across, down] = orientation >= 5 ? [y, x] : [x, y];
      const column = fromRight ? width - 1 - across : across;
      const row = fromBottom ? height - 1 - down : down;
      for (let c = 0; c < channels; c++) out[(y * size.width + x) * channels + c] = data[(row * width + column) * channels + c] as number;
    }
  return { ...size, channels, data: out };
}
