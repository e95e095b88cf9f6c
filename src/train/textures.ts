import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { FormatError } from "../io/formatError.ts";
import { addPictures, generateTextures, type TextureSet } from "../optics/texture.ts";

const PICTURE = /\.(jpe?g|png|webp|tiff?)$/i;
const CHUNK = 64; // pictures decoded at a time

/**
 * The generated textures, and after them those of `path`: a folder of pictures, or a `.bin` file of raw RGB pixels
 * (count × size × size × 3 bytes) for machines without an image decoder.
 */
export async function loadTextures(path?: string): Promise<TextureSet> {
  const generated = generateTextures();
  if (path === undefined) return generated;
  if (!(await stat(path)).isDirectory()) return addRaw(generated, await readFile(path), path);
  const names = (await readdir(path)).filter((name) => PICTURE.test(name)).sort();
  if (names.length === 0) throw new FormatError(`${path}: has no pictures (jpg, png, webp, tif)`);
  const { readImage } = await import("../data/readImage.ts"); // the decoder is needed for folders alone
  let set = generated;
  for (let i = 0; i < names.length; i += CHUNK) {
    const pictures = await Promise.all(names.slice(i, i + CHUNK).map((name) => readImage(join(path, name))));
    set = addPictures(set, pictures);
  }
  return set;
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
