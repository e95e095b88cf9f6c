import type { Image } from "../../../src/image/image.ts";
import type { StackSource } from "../../../src/stack/stackSource.ts";

/** Images in the size in which they were first read, by their index in the order of the names. */
export type ImageCache = Map<number, { readonly maxPixels: number; readonly image: Promise<Image> }>;

/**
 * The same stack; images in working size are decoded once, however often distances are changed and runs repeated. Larger copies, which
 * some stacks need, are not kept: only a run has memory for them.
 */
export function cachedSource(source: StackSource, cache: ImageCache): StackSource {
  const readScaled: StackSource["readScaled"] = (plane, maxPixels, signal) => {
    const frame = source.frames[plane] as number;
    const kept = cache.get(frame);
    if (kept && kept.maxPixels !== maxPixels) return source.readScaled(plane, maxPixels, signal);
    if (kept)
      return kept.image.catch((error: unknown) => {
        if (!isStopped(error)) throw error;
        return readScaled(plane, maxPixels, signal); // the call that was reading it was stopped, not this one
      });
    const image = source.readScaled(plane, maxPixels, signal);
    cache.set(frame, { maxPixels, image });
    image.catch(() => cache.delete(frame));
    return image;
  };
  return { ...source, readScaled };
}

const isStopped = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";
