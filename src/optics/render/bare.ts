import type { Image, Size } from "../../image/image.ts";
import { resize } from "../../image/resize.ts";
import type { Random } from "../../random.ts";
import { nodesOver } from "./noise.ts";

/**
 * Where a stack is bare: a field of normal deviates at nodes `cell` pixels apart, bilinear between them, is below a threshold within ± `threshold`; from there, contrast grows by
 * `steepness` per unit of the field. What is left of the images there is their mean over squares of the side `square`. The same in training (train/deviceAugment.ts), where cells grow with the image.
 */
export const BARE = { cell: 64, threshold: 1.5, steepness: 4, square: 16 } as const;

/** How much of their contrast the parts of a stack keep, 0 to 1 at every pixel: anywhere between a bare corner and nothing at all. */
export function bareContrast({ width, height }: Size, random: Random): Float32Array {
  const [w, h] = nodesOver([width, height], BARE.cell);
  const threshold = BARE.threshold * (2 * random.uniform() - 1);
  const data = Float32Array.from({ length: w * h }, () => random.normal());
  const field = resize({ width: w, height: h, channels: 1, data }, { width, height, filter: "linear" }).data;
  return field.map((value) => Math.min(Math.max(BARE.steepness * (value - threshold), 0), 1));
}

/**
 * The frames of a stack with less contrast around a slow image that is the same in each: where nothing is left, they show nothing of focus, as photographed walls do. Rendered
 * surfaces show a little of it almost everywhere. Noise has to be added to each frame afterwards.
 */
export function withBareParts(frames: readonly Image[], contrast: Float32Array): Image[] {
  const { channels, data: slow } = slowImage(frames);
  return frames.map((frame) => ({
    ...frame,
    data: frame.data.map((value, i) => {
      const rest = slow[i] as number;
      return rest + (value - rest) * (contrast[Math.floor(i / channels)] as number);
    }),
  }));
}

/** The mean of the frames, without what is finer than the squares. */
function slowImage(frames: readonly Image[]): Image {
  const { width, height, data } = frames[0] as Image;
  const mean = data.map((_, i) => frames.reduce((sum, frame) => sum + (frame.data[i] as number), 0) / frames.length);
  const [w, h] = [width, height].map((side) => Math.max(Math.floor(side / BARE.square), 1)) as [number, number];
  const small = resize({ ...(frames[0] as Image), data: mean }, { width: w, height: h, filter: "linear" });
  return resize(small, { width, height, filter: "linear" });
}
