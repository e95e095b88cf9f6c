import { readFile } from "node:fs/promises";
import { FormatError } from "../io/formatError.ts";
import { generateTextures, type TextureSet } from "../optics/texture/texture.ts";

/**
 * The generated textures, and after them those of `path`: a folder of pictures, or a `.bin` file of raw RGB pixels
 * (count × size × size × 3 bytes) for machines without an image decoder.
 */
export async function loadTextures(path?: string): Promise<TextureSet> {
  if (path === undefined) return generateTextures();
  if (path.endsWith(".bin")) return addRaw(generateTextures(), await readFile(path), path);
  const { readTextures } = await import("../data/textureFolder.ts"); // brings the decoder, which .bin files do without
  return readTextures(path);
}

function addRaw({ count, size, data }: TextureSet, bytes: Uint8Array, file: string): TextureSet {
  const pixels = size * size;
  if (bytes.length === 0 || bytes.length % (3 * pixels) !== 0)
    throw new FormatError(`${file}: ${bytes.length} bytes are no whole number of ${size} × ${size} RGB pictures`);
  const added = bytes.length / (3 * pixels);
  const all = new Uint8Array((count + added) * pixels * 4).fill(255);
  all.set(data);
  for (let pixel = 0; pixel < added * pixels; pixel++) {
    const to = (count * pixels + pixel) * 4;
    all[to] = bytes[3 * pixel] as number;
    all[to + 1] = bytes[3 * pixel + 1] as number;
    all[to + 2] = bytes[3 * pixel + 2] as number;
  }
  return { count: count + added, size, data: all };
}
