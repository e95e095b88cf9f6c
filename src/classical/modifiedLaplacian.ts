import { type FocalStack, focalStack } from "../stack/focalStack.ts";
import { boxMean, type Plane } from "../image/boxFilter.ts";
import { focusPeak, type FocusResult, type PeakFit, type SharpnessVolume } from "./focusPeak.ts";
import type { Image } from "../image/image.ts";
import { luminance } from "../image/luminance.ts";

/**
 * The modified Laplacian (Nayar and Nakagawa 1994), in which opposite curvatures do not cancel as in the plain Laplacian:
 *
 *     |2 I(x, y) - I(x - s, y) - I(x + s, y)| + |2 I(x, y) - I(x, y - s) - I(x, y + s)|
 *
 * A neighbour outside the image is replaced by the nearest pixel inside.
 */
export function modifiedLaplacian({ width, height, values }: Plane, { step = 1 }: { step?: number } = {}): Float32Array {
  const response = new Float32Array(values.length);
  for (let y = 0; y < height; y++) {
    const row = y * width;
    const above = Math.max(y - step, 0) * width;
    const below = Math.min(y + step, height - 1) * width;
    for (let x = 0; x < width; x++) {
      const twice = 2 * (values[row + x] as number);
      const left = values[row + Math.max(x - step, 0)] as number;
      const right = values[row + Math.min(x + step, width - 1)] as number;
      const across = Math.abs(twice - left - right);
      response[row + x] = across + Math.abs(twice - (values[above + x] as number) - (values[below + x] as number));
    }
  }
  return response;
}

interface WindowOptions {
  readonly step?: number;
  readonly radius?: number;
}

/** The mean modified Laplacian over a window of side 2·radius + 1, on every plane. */
export function laplacianSharpness(images: readonly Image[], { step = 1, radius = 4 }: WindowOptions = {}): SharpnessVolume {
  const { width, height } = images[0] as Image;
  const values = new Float32Array(images.length * width * height);
  images.forEach((image, n) => {
    const response = modifiedLaplacian(luminance(image), { step });
    values.set(boxMean({ width, height, values: response }, radius), n * width * height);
  });
  return { planes: images.length, width, height, values };
}

/** Depth from the sum-modified-Laplacian: windowed sharpness, sharpest plane, three-point fit. */
export function laplacianDepth(
  stack: FocalStack,
  { fit = "gaussian", ...window }: WindowOptions & { readonly fit?: PeakFit } = {},
): FocusResult {
  const { images, focusDistances, space } = focalStack(stack);
  return focusPeak(laplacianSharpness(images, window), { focusDistances, space, fit });
}
