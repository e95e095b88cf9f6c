import type { Image } from "../image.ts";
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
  const weightAt = sampler(probability, { width, height });
  return {
    add({ data }, plane) {
      for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) {
          const i = y * width + x;
          const weight = weightAt(plane, x, y) ** 2 + 1e-9; // never nothing at all
          total[i] = (total[i] as number) + weight;
          for (let c = 0; c < channels; c++) {
            const at = i * channels + c;
            sum[at] = (sum[at] as number) + weight * (data[at] as number);
          }
        }
    },
    finish() {
      for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) / (total[Math.floor(i / channels)] as number);
      return { width, height, channels, data: sum };
    },
  };
}

/** p_n at a pixel of a picture of this size, bilinear between the pixels of the map. */
function sampler({ width: w, height: h, values }: FocusProbability, { width, height }: { width: number; height: number }) {
  const axis = (from: number, to: number): { lower: Uint32Array; share: Float32Array } => {
    const lower = new Uint32Array(to);
    const share = new Float32Array(to);
    for (let i = 0; i < to; i++) {
      const at = Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1);
      lower[i] = Math.min(Math.floor(at), Math.max(from - 2, 0));
      share[i] = at - (lower[i] as number);
    }
    return { lower, share };
  };
  const [across, down] = [axis(w, width), axis(h, height)];
  const [right, below] = [w > 1 ? 1 : 0, h > 1 ? w : 0];
  return (plane: number, x: number, y: number): number => {
    const [sx, sy] = [across.share[x] as number, down.share[y] as number];
    const at = plane * w * h + (down.lower[y] as number) * w + (across.lower[x] as number);
    const upper = (values[at] as number) * (1 - sx) + (values[at + right] as number) * sx;
    const lower = (values[at + below] as number) * (1 - sx) + (values[at + below + right] as number) * sx;
    return upper * (1 - sy) + lower * sy;
  };
}
