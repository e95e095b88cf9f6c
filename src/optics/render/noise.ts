import { image, type Image } from "../../image/image.ts";
import { enlarge } from "../../image/upsample.ts";
import type { Random } from "../../random.ts";

/** Pixels between the nodes of slow noise; the same in training: train/deviceAugment.ts. */
export const BLOTCH_CELLS = [8, 32] as const;

/** How many nodes so many pixels apart a field over an image has along each side. */
export const nodesOver = (sides: readonly [number, number], cell: number): [number, number] =>
  sides.map((side) => Math.max(Math.ceil(side / cell), 2)) as [number, number];

/** Standard deviations. */
export interface Noise {
  /** Of every pixel and channel for itself. */
  readonly white: number;
  /** Of normal deviates at nodes 8 and 32 pixels apart, bilinear between them, the same for every channel. */
  readonly slow: number;
}

/** Around that of a phone's wall: white noise of 0.0035 and slow noise of 0.001. */
export const wallNoise = (random: Random): Noise => ({ white: 0.00175 * 4 ** random.uniform(), slow: 0.0005 * 4 ** random.uniform() });

/**
 * The image with the noise that is left in photographs after demosaicing, denoising and a change of the lens' shading with focus. Averaging does not remove its slow
 * part: on a wall taken by a phone, the deviation between aligned frames falls from 0.0035 at single pixels to 0.001 over 8×8 of them and stays there up to 30×30.
 */
export function noisy(frame: Image, { white, slow }: Noise, random: Random): Image {
  const { width, height, channels } = frame;
  const data = Float32Array.from(frame.data);
  for (const cell of BLOTCH_CELLS) {
    const [w, h] = nodesOver([width, height], cell);
    const values = Float32Array.from({ length: w * h }, () => random.normal() * slow);
    const layer = enlarge({ width: w, height: h, values }, frame);
    for (let i = 0; i < data.length; i++) data[i] = (data[i] as number) + (layer[Math.floor(i / channels)] as number);
  }
  for (let i = 0; white > 0 && i < data.length; i++) data[i] = (data[i] as number) + white * random.normal();
  return image({ width, height, channels, data: data.map((value) => Math.min(Math.max(value, 0), 1)) });
}
