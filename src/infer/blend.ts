import type { Image } from "../image.ts";
import { between, rowsBetween } from "./between.ts";
import type { FocusProbability } from "./focusProbability.ts";

/** Each pixel from the planes it is sharp in: Σ p_n² I_n / Σ p_n². The square keeps a plane that is only nearly sharp from softening it. */
export function blendPlanes(images: readonly Image[], probability: FocusProbability): Image {
  const blender = createBlender(images[0] as Image, probability);
  images.forEach((image, plane) => {
    blender.add(image, plane);
  });
  return blender.finish();
}

/** The same, one plane after the other, for pictures larger than the probability map; nothing but the sum is held. */
export function createBlender(
  { width, height, channels }: Pick<Image, "width" | "height" | "channels">,
  probability: FocusProbability,
): { add(image: Image, plane: number): void; finish(): Image } {
  const sum = new Float32Array(width * height * channels);
  const total = new Float32Array(width * height);
  const { lower, share, next } = between({ from: probability.width, to: width });
  const rowAt = rowsBetween(probability, between({ from: probability.height, to: height }));
  const plane = probability.width * probability.height;
  return {
    add({ data }, n) {
      for (let y = 0; y < height; y++) {
        const row = rowAt(y, n * plane);
        for (let x = 0, i = y * width, at = i * channels; x < width; x++, i++) {
          const left = row[lower[x] as number] as number;
          const p = left + ((row[(lower[x] as number) + next] as number) - left) * (share[x] as number);
          const weight = p * p + 1e-9; // never nothing at all
          total[i] = (total[i] as number) + weight;
          for (const end = at + channels; at < end; at++) sum[at] = (sum[at] as number) + weight * (data[at] as number);
        }
      }
    },
    finish() {
      for (let i = 0, at = 0; i < total.length; i++) {
        const factor = 1 / (total[i] as number);
        for (const end = at + channels; at < end; at++) sum[at] = (sum[at] as number) * factor;
      }
      return { width, height, channels, data: sum };
    },
  };
}
