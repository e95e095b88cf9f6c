import { readdir } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { FormatError } from "../io/formatError.ts";
import type { TextureSet } from "../optics/texture/texture.ts";
import { generateTextures } from "../optics/texture/texture.ts";

/** The generated textures, then the pictures of `folder` (JPEG or PNG) in the order of their names, each cut to a square. */
export async function readTextures(folder?: string, { limit = Infinity }: { limit?: number } = {}): Promise<TextureSet> {
  if (folder === undefined) return generateTextures();
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new FormatError(`${folder}: not a readable folder of pictures`, { cause });
  });
  const files = names
    .filter((name) => /\.(jpe?g|png)$/i.test(name))
    .sort()
    .slice(0, limit);
  if (files.length === 0) throw new FormatError(`${folder}: no JPEG or PNG pictures to use as textures`);
  const generated = generateTextures();
  const { size, count } = generated;
  const bytes = size * size * 4;
  const data = new Uint8Array((count + files.length) * bytes);
  data.set(generated.data);
  for (const [i, name] of files.entries()) data.set(await readSquare(join(folder, name), size), (count + i) * bytes);
  return { count: count + files.length, size, data };
}

async function readSquare(file: string, size: number): Promise<Uint8Array> {
  try {
    return await sharp(file).resize(size, size, { fit: "cover" }).toColourspace("srgb").removeAlpha().ensureAlpha().raw().toBuffer();
  } catch (cause) {
    throw new FormatError(`${file}: not a picture that can be read (${cause instanceof Error ? cause.message : String(cause)})`, { cause });
  }
}
