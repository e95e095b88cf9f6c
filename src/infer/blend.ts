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
  const rowsOf = rowSampler(probability, { height });
  const { lower, share, right } = across(probability.width, width);
  return {
    add({ data }, plane) {
      const rowAt = rowsOf(plane);
      for (let y = 0; y < height; y++) {
        const row = rowAt(y);
        for (let x = 0, i = y * width, at = i * channels; x < width; x++, i++) {
          const left = row[lower[x] as number] as number;
          const p = left + ((row[(lower[x] as number) + right] as number) - left) * (share[x] as number);
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

/** Where each of `to` pixels lies between those of a map with `from`; `right` is the step to the second of the two. */
function across(from: number, to: number): { lower: Uint32Array; share: Float32Array; right: 0 | 1 } {
  const lower = new Uint32Array(to);
  const share = new Float32Array(to);
  for (let i = 0; i < to; i++) {
    const at = Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1);
    lower[i] = Math.min(Math.floor(at), Math.max(from - 2, 0));
    share[i] = at - (lower[i] as number);
  }
  return { lower, share, right: from > 1 ? 1 : 0 };
}

/** Rows of p_n as a picture of this size has them, bilinear between those of the map; each is overwritten by the next. */
function rowSampler({ width: w, height: h, values }: FocusProbability, { height }: { height: number }) {
  const { lower, share, right: below } = across(h, height);
  const row = new Float32Array(w);
  return (plane: number) =>
    (y: number): Float32Array => {
      const first = plane * w * h + (lower[y] as number) * w;
      const [second, part] = [first + below * w, share[y] as number];
      for (let x = 0; x < w; x++) row[x] = (values[first + x] as number) * (1 - part) + (values[second + x] as number) * part;
      return row;
    };
}
