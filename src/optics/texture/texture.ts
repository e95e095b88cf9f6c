import type { Random } from "../../random.ts";
import { createRandom } from "../../random.ts";
import { TEXTURE_SIZE, paintTexture } from "./paint.ts";

/** Square images of one size (a power of two), gamma-encoded, RGBA, 8 bits: [count, size, size, 4]. They tile. */
export interface TextureSet {
  readonly count: number;
  readonly size: number;
  readonly data: Uint8Array;
}

export const GENERATED_TEXTURES = 96;

/** Generated textures. Texture i does not depend on `count`. */
export function generateTextures({ count = GENERATED_TEXTURES, seed = 1 }: { count?: number; seed?: number } = {}): TextureSet {
  const size = TEXTURE_SIZE;
  const data = new Uint8Array(count * size * size * 4);
  const root: Random = createRandom(seed);
  for (let i = 0; i < count; i++) paintTexture(root.split(i), i, data.subarray(i * size * size * 4, (i + 1) * size * size * 4));
  return { count, size, data };
}

/** Every `every`-th texture is held out for testing and never used in training. */
export function splitTextures(count: number, { every = 10 }: { every?: number } = {}): { train: number[]; test: number[] } {
  const all = Array.from({ length: count }, (_, i) => i);
  return { train: all.filter((i) => i % every !== every - 1), test: all.filter((i) => i % every === every - 1) };
}
