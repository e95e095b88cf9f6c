import { boxMean } from "../../../src/image/boxFilter.ts";
import { luminance } from "../../../src/image/luminance.ts";
import { modifiedLaplacian } from "../../../src/classical/modifiedLaplacian.ts";
import type { Image } from "../../../src/image/image.ts";
import type { PlaneMaps } from "../contract.ts";

/** Half the side of the window that is averaged over: that of the classical method. */
const RADIUS = 4;

/** How sharp each plane is around each pixel: the mean modified Laplacian, [planes, height, width]. */
export function sharpnessMaps(images: readonly Image[]): PlaneMaps {
  const [{ width, height }] = images as [Image];
  const data = new Float32Array(images.length * width * height);
  images.forEach((image, plane) => {
    data.set(boxMean({ width, height, values: modifiedLaplacian(luminance(image)) }, RADIUS), plane * width * height);
  });
  return { planes: images.length, width, height, data };
}
