import type { Image } from "../../../src/image/image.ts";
import type { StackSource } from "../../../src/stack/stackSource.ts";

/** Pictures in the size they were first asked for, by their number in the order of the names. */
export type PictureCache = Map<number, { readonly maxPixels: number; readonly picture: Promise<Image> }>;

/**
 * The same stack; pictures in working size are decoded once, however often distances are changed and runs repeated. Larger copies, which
 * some stacks need, are not kept: only a run has room for them.
 */
export function cachedSource(source: StackSource, cache: PictureCache): StackSource {
  return {
    ...source,
    readScaled: (plane, maxPixels) => {
      const frame = source.frames[plane] as number;
      const kept = cache.get(frame);
      if (kept) return kept.maxPixels === maxPixels ? kept.picture : source.readScaled(plane, maxPixels);
      const picture = source.readScaled(plane, maxPixels);
      cache.set(frame, { maxPixels, picture });
      picture.catch(() => cache.delete(frame));
      return picture;
    },
  };
}
