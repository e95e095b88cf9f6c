import type { RawPixels } from "../../../src/io/libraw.ts";

export interface RawRequest {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** The image, or nothing if LibRaw cannot decode it, or why LibRaw could not be loaded. */
export type RawReply = { readonly id: number } & ({ readonly pixels: RawPixels | undefined } | { readonly failure: string });
