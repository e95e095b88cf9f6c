/** A picture: values in [0, 1] as stored in the file (gamma-encoded sRGB unless said otherwise), row by row, channels interleaved. */
export interface Image {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3;
  readonly data: Float32Array;
}

export function image({ width, height, channels, data }: Image): Image {
  if (!(Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0))
    throw new RangeError(`image: width and height must be positive integers, got ${width}×${height}`);
  if (data.length !== width * height * channels)
    throw new RangeError(`image: ${width}×${height}×${channels} needs ${width * height * channels} values, got ${data.length}`);
  return { width, height, channels, data };
}

/** Throws where a value is NaN or infinite: one such pixel would spread over the whole result. */
export function checkPixels({ width, channels, data }: Image, where: string): void {
  let sum = 0; // in double precision, so it is finite exactly when every value is
  for (let i = 0; i < data.length; i++) sum += data[i] as number;
  if (Number.isFinite(sum)) return;
  const index = data.findIndex((value) => !Number.isFinite(value));
  const pixel = Math.floor(index / channels);
  throw new RangeError(
    `${where} holds ${data[index]} at column ${pixel % width}, row ${Math.floor(pixel / width)}; every pixel must be a finite number`,
  );
}
