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
