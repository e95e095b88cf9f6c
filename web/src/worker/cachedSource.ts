import type { Image } from "../../../src/image.ts";
import type { StackSource } from "../../../src/source/stackSource.ts";

/** Pictures in working size, by their number in the order of the names. */
export type PictureCache = Map<number, Promise<Image>>;

/** The same stack; pictures in working size are decoded once, however often distances are changed and runs repeated. */
export function cachedSource(source: StackSource, cache: PictureCache): StackSource {
  return {
    ...source,
    readScaled: (plane, maxPixels) => {
      const frame = source.frames[plane] as number;
      const picture = cache.get(frame) ?? source.readScaled(plane, maxPixels);
      cache.set(frame, picture);
      picture.catch(() => cache.delete(frame));
      return picture;
    },
  };
}
