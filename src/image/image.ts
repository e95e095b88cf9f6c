/** In pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size alone of what has one. */
export const sizeOf = ({ width, height }: Size): Size => ({ width, height });

/** Values in [0, 1] as stored in the file (gamma-encoded sRGB unless stated otherwise), row by row, channels interleaved. */
export interface Image extends Size {
  readonly channels: 1 | 3;
  readonly data: Float32Array;
}

/** An image as its file stores it, in a quarter or half of the memory: integers of 8 or 16 bits. */
export interface StoredImage extends Size {
  readonly channels: 1 | 3;
  readonly data: Uint8Array | Uint16Array;
}

export function image({ width, height, channels, data }: Image): Image {
  if (!(Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0))
    throw new RangeError(`image: width and height must be positive integers, got ${width}×${height}`);
  if (data.length !== width * height * channels)
    throw new RangeError(`image: ${width}×${height}×${channels} needs ${width * height * channels} values, got ${data.length}`);
  return { width, height, channels, data };
}

/** No image with values in [0, 1] has such a mean, noise and sharpening included; bytes do. */
const BRIGHTEST_MEAN = 2;

/**
 * Throws if the values cannot be an image: the wrong count, bytes, 0 to 255, or one that is NaN or infinite, which would spread over the
 * whole result.
 */
export function checkPixels({ width, height, channels, data }: Image, where: string): void {
  const kind = Object.prototype.toString.call(data).slice(8, -1); // not instanceof: the array may be from another frame or test sandbox
  if (kind !== "Float32Array") throw new RangeError(`${where} holds its pixels as ${kind}; it takes a Float32Array with values in [0, 1]`);
  if (data.length !== width * height * channels)
    throw new RangeError(`${where} is ${width}×${height}×${channels}, which needs ${width * height * channels} values, got ${data.length}`);
  const sum = sumOf(data); // in double precision, so it is finite exactly when every value is
  if (Number.isFinite(sum) && sum > BRIGHTEST_MEAN * data.length)
    throw new RangeError(
      `${where} has values of ${(sum / data.length).toPrecision(3)} on average; it takes values in [0, 1], so divide bytes by 255`,
    );
  if (Number.isFinite(sum)) return;
  const index = data.findIndex((value) => !Number.isFinite(value));
  const pixel = Math.floor(index / channels);
  throw new RangeError(
    `${where} holds ${data[index]} at column ${pixel % width}, row ${Math.floor(pixel / width)}; every pixel must be a finite number`,
  );
}

/** Four sums side by side: each addition would wait for the one before. */
function sumOf(values: Float32Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const fours = values.length - (values.length % 4);
  for (let i = 0; i < fours; i += 4) {
    a += values[i] as number;
    b += values[i + 1] as number;
    c += values[i + 2] as number;
    d += values[i + 3] as number;
  }
  for (let i = fours; i < values.length; i++) a += values[i] as number;
  return a + b + c + d;
}
