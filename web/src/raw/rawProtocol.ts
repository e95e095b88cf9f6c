import type { RawPixels } from "../../../src/io/libraw.ts";

/** One at a time. */
export interface RawRequest {
  readonly bytes: Uint8Array;
}

/** The image, or nothing if LibRaw cannot decode it, or why LibRaw could not be loaded. */
export type RawReply = { readonly pixels: RawPixels | undefined } | { readonly failure: string };
