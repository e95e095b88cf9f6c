import type { Image } from "../image.ts";
import type { Random } from "../random.ts";
import { createRandom } from "../random.ts";
import { TEXTURE_SIZE, paintTexture } from "./texturePaint.ts";

/** Square pictures of one size (a power of two), gamma-encoded, RGBA, 8 bits: [count, size, size, 4]. They tile. */
export interface TextureSet {
  readonly count: number;
  readonly size: number;
  readonly data: Uint8Array;
}

export const GENERATED_TEXTURES = 96;

/** Seeded textures that need no files. Texture i is the same whatever `count` is. */
export function generateTextures({ count = GENERATED_TEXTURES, seed = 1 }: { count?: number; seed?: number } = {}): TextureSet {
  const size = TEXTURE_SIZE;
  const data = new Uint8Array(count * size * size * 4);
  const root: Random = createRandom(seed);
  for (let i = 0; i < count; i++) paintTexture(root.split(i), i, data.subarray(i * size * size * 4, (i + 1) * size * size * 4));
  return { count, size, data };
}

/** The textures of `set`, then the pictures, each cropped to its middle square and resampled. */
export function addPictures(set: TextureSet, pictures: readonly Image[]): TextureSet {
  const { size } = set;
  const data = new Uint8Array((set.count + pictures.length) * size * size * 4);
  data.set(set.data);
  pictures.forEach((picture, i) => {
    const start = (set.count + i) * size * size * 4;
    fitPicture(picture, size, data.subarray(start, start + size * size * 4));
  });
  return { count: set.count + pictures.length, size, data };
}

/** Box average when the picture is larger than `size`, nearest pixel when it is smaller. */
function fitPicture({ width, height, channels, data }: Image, size: number, out: Uint8Array): void {
  const side = Math.min(width, height);
  const [left, top] = [(width - side) >> 1, (height - side) >> 1];
  const edge = (i: number): number => Math.floor((i * side) / size);
  for (let y = 0; y < size; y++) {
    const [y0, y1] = [edge(y), Math.max(edge(y + 1), edge(y) + 1)];
    for (let x = 0; x < size; x++) {
      const [x0, x1] = [edge(x), Math.max(edge(x + 1), edge(x) + 1)];
      for (let c = 0; c < 3; c++) {
        let sum = 0;
        for (let v = y0; v < y1; v++)
          for (let u = x0; u < x1; u++) sum += data[((top + v) * width + left + u) * channels + (channels === 1 ? 0 : c)] as number;
        out[(y * size + x) * 4 + c] = Math.round((255 * sum) / ((y1 - y0) * (x1 - x0)));
      }
      out[(y * size + x) * 4 + 3] = 255;
    }
  }
}

/** Every `every`-th texture is held out for testing; training never sees it. */
export function splitTextures(count: number, { every = 10 }: { every?: number } = {}): { train: number[]; test: number[] } {
  const all = Array.from({ length: count }, (_, i) => i);
  return { train: all.filter((i) => i % every !== every - 1), test: all.filter((i) => i % every === every - 1) };
}
