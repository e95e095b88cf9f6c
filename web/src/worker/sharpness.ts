import { laplacianSharpness } from "../../../src/classical/modifiedLaplacian.ts";
import type { Image } from "../../../src/image/image.ts";
import type { PlaneMaps } from "../contract.ts";

/** How sharp each plane is around each pixel, as the classical method measures it: [planes, height, width]. */
export function sharpnessMaps(images: readonly Image[]): PlaneMaps {
  const { values, ...size } = laplacianSharpness(images);
  return { ...size, data: values };
}
