import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { decodingAsync, FormatError } from "../io/formatError.ts";
import { generateTextures, type TextureSet } from "../optics/texture/texture.ts";

/**
 * The generated textures, and after them those of `path`: a folder of images, or a `.bin` file of raw RGB pixels
 * (count × size × size × 3 bytes) for machines without an image decoder.
 */
export async function loadTextures(path?: string): Promise<TextureSet> {
  if (path === undefined) return generated();
  if (path.endsWith(".bin")) return addRaw(generated(), await readFile(path), path);
  return addFolder(generated(), path);
}

let painted: TextureSet | undefined;

/** Always the same, and a second of work. */
const generated = (): TextureSet => (painted ??= generateTextures());

function addRaw({ count, size, data }: TextureSet, bytes: Uint8Array, file: string): TextureSet {
  const pixels = size * size;
  if (bytes.length === 0 || bytes.length % (3 * pixels) !== 0)
    throw new FormatError(`${file}: ${bytes.length} bytes are not a whole number of ${size} × ${size} RGB images`);
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

/** The JPEG and PNG images of a folder in the order of their names, each cut to a square. */
async function addFolder({ count, size, data }: TextureSet, folder: string): Promise<TextureSet> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new FormatError(`${folder}: not a readable folder of images`, { cause });
  });
  const files = names.filter((name) => /\.(jpe?g|png)$/i.test(name)).sort();
  if (files.length === 0) throw new FormatError(`${folder}: no JPEG or PNG images to use as textures`);
  const all = new Uint8Array((count + files.length) * size * size * 4);
  all.set(data);
  for (const [i, name] of files.entries()) all.set(await readSquare(join(folder, name), size), (count + i) * size * size * 4);
  return { count: count + files.length, size, data: all };
}

function readSquare(file: string, size: number): Promise<Uint8Array> {
  return decodingAsync({ file, format: "picture" }, async () => {
    const { default: sharp } = await import("sharp"); // .bin files do without it
    return sharp(file).resize(size, size, { fit: "cover" }).toColourspace("srgb").removeAlpha().ensureAlpha().raw().toBuffer();
  });
}
