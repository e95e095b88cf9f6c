import type { Image } from "../../src/image/image.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";
import type { StackSource } from "../../src/stack/stackSource.ts";

/** A stack in memory. */
export function arraySource({ images, focusDistances, space }: FocalStack): StackSource {
  const read = (plane: number): Promise<Image> => Promise.resolve(images[plane] as Image);
  const { width, height, channels } = images[0] as Image;
  return {
    name: "memory",
    files: images.map((_, n) => `${n}.png`),
    frames: images.map((_, n) => n),
    focus: focusDistances.map((value) => ({ value, source: "file name", unit: "m" })),
    ...{ focusDistances, space, unit: "m", size: { width, height }, channels, bits: 8, orientation: 1, notes: [] },
    readPlane: read,
    readStored: read,
    readScaled: read,
    readMetadata: () => Promise.resolve({}),
  };
}
