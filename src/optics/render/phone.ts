import { boxMean } from "../../image/boxFilter.ts";
import type { Image, Size } from "../../image/image.ts";
import { image } from "../../image/image.ts";
import type { Phone } from "../scene/scene.ts";
import { compressLikeJpeg, LUMINANCE_WEIGHTS } from "./jpeg.ts";

/** Radius of the window that denoising looks at, in pixels. */
export const DENOISE_RADIUS = 2;
/** One axis of the blur that sharpening takes the detail from: σ = 1 pixel. */
export const SHARPEN_TAPS = [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16] as const;

/** A frame as a phone's software leaves it: shading, denoising, sharpening, tone, JPEG. The same on the device: train/devicePhone.ts. */
export function phoneImage(frame: Image, { shading, denoise, sharpen, tone, jpegQuality }: Phone, plane: number): Image {
  const channels = splitChannels(frame);
  shade(channels, frame, shading);
  const smooth = channels.map((values) => (denoise > 0 ? denoised(values, frame, denoise) : values));
  if (sharpen > 0) addDetail(smooth, frame, sharpen);
  const curve = toneCurve(tone[plane] as Phone["tone"][number]);
  const data = new Float32Array(frame.data.length);
  smooth.forEach((values, c) => {
    for (let i = 0; i < values.length; i++) data[smooth.length * i + c] = curve(values[i] as number);
  });
  return compressLikeJpeg(image({ ...frame, data }), jpegQuality, { chroma: "half" });
}

const splitChannels = ({ channels, data }: Image): Float32Array[] =>
  Array.from({ length: channels }, (_, c) =>
    Float32Array.from({ length: data.length / channels }, (_, i) => data[channels * i + c] as number),
  );

/** Multiplies by 1 + right·x + down·y − corner·(x² + y²)/2, with x and y from −1 to 1 over the image. */
function shade(channels: readonly Float32Array[], { width, height }: Size, [right, down, corner]: Phone["shading"]): void {
  for (let i = 0; i < width * height; i++) {
    const [x, y] = [(2 * (i % width) + 1) / width - 1, (2 * Math.floor(i / width) + 1) / height - 1];
    const factor = Math.max(1 + right * x + down * y - (corner * (x * x + y * y)) / 2, 0);
    for (const values of channels) values[i] = (values[i] as number) * factor;
  }
}

/**
 * A guided filter by the channel itself (He et al., 2010): the local linear model a I + b with a = σ² / (σ² + ε²), averaged over its
 * windows. Differences well below ε go to the local mean, edges well above stay.
 */
function denoised(values: Float32Array, { width, height }: Size, strength: number): Float32Array {
  const mean = (of: Float32Array): Float32Array => boxMean({ width, height, values: of }, DENOISE_RADIUS);
  const [m, squares] = [mean(values), mean(values.map((value) => value * value))];
  const a = m.map((value, i) => {
    const variance = Math.max((squares[i] as number) - value * value, 0);
    return variance / (variance + strength * strength);
  });
  const b = m.map((value, i) => value * (1 - (a[i] as number)));
  const [meanA, meanB] = [mean(a), mean(b)];
  return values.map((value, i) => (meanA[i] as number) * value + (meanB[i] as number));
}

/** Unsharp masking of the luminance: Y + strength (Y − blurred Y), the same addition for every channel. */
function addDetail(channels: readonly Float32Array[], size: Size, strength: number): void {
  const weights = channels.length === 3 ? LUMINANCE_WEIGHTS : [1];
  const luminance = (channels[0] as Float32Array).map((_, i) =>
    channels.reduce((sum, values, c) => sum + (weights[c] as number) * (values[i] as number), 0),
  );
  const blurred = blur(blur(luminance, size, "across"), size, "down");
  for (const values of channels)
    for (let i = 0; i < values.length; i++)
      values[i] = (values[i] as number) + strength * ((luminance[i] as number) - (blurred[i] as number));
}

/** Pixels at the border count again beyond it. */
function blur(values: Float32Array, { width, height }: Size, axis: "across" | "down"): Float32Array {
  return values.map((_, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return SHARPEN_TAPS.reduce((sum, tap, k) => {
      const at = axis === "across" ? y * width + clamped(x + k - 2, width) : clamped(y + k - 2, height) * width + x;
      return sum + tap * (values[at] as number);
    }, 0);
  });
}

const clamped = (at: number, size: number): number => Math.min(Math.max(at, 0), size - 1);

/** t = ((v − black) / (1 − black))^gamma, then t + contrast t (1 − t) (2t − 1): darker darks and brighter brights. */
function toneCurve({ black, gamma, contrast }: Phone["tone"][number]): (value: number) => number {
  return (value) => {
    const t = Math.min(Math.max((value - black) / (1 - black), 0), 1) ** gamma;
    return t + contrast * t * (1 - t) * (2 * t - 1);
  };
}
