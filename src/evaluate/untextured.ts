import { boxMean } from "../image/boxFilter.ts";
import { luminance } from "../image/luminance.ts";
import type { DepthMap } from "../image/depthMap.ts";
import type { FocalStack } from "../stack/focalStack.ts";

const RADIUS = 4;

/**
 * How textured the scene is around each pixel: the mean length of the brightness gradient in a 9×9 window, of the plane where it is
 * greatest. Defocus only lowers it, so this is close to that of the all-in-focus image, which most sets do not have.
 */
export function textureStrength({ images }: FocalStack): Float32Array {
  const { width = 0, height = 0 } = images[0] ?? {};
  const strongest = new Float32Array(width * height);
  for (const image of images) {
    const { values } = luminance(image);
    const gradient = new Float32Array(values.length);
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const i = y * width + x;
        const right = values[x + 1 < width ? i + 1 : i] as number;
        const below = values[y + 1 < height ? i + width : i] as number;
        gradient[i] = Math.hypot(right - (values[i] as number), below - (values[i] as number));
      }
    const averaged = boxMean({ width, height, values: gradient }, RADIUS);
    for (let i = 0; i < strongest.length; i++) strongest[i] = Math.max(strongest[i] as number, averaged[i] as number);
  }
  return strongest;
}

/** The truth split by texture into thirds, least textured first (the first ones hold more, if many pixels are equally plain). */
export function textureThirds(trueDepth: DepthMap, strength: Float32Array): readonly [DepthMap, DepthMap, DepthMap] {
  const known = strength.filter((_, i) => trueDepth.valid[i] === 1).sort();
  const limit = (thirds: number): number => known[Math.max(Math.ceil((known.length * thirds) / 3) - 1, 0)] ?? 0;
  const [low, high] = [limit(1), limit(2)];
  const part = (isIn: (value: number) => boolean): DepthMap => ({
    ...trueDepth,
    valid: trueDepth.valid.map((valid, i) => (valid && isIn(strength[i] as number) ? 1 : 0)),
  });
  return [part((value) => value <= low), part((value) => value > low && value <= high), part((value) => value > high)];
}
