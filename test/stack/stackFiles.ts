import { join } from "node:path";
import sharp from "sharp";
import { put } from "../data/files.ts";

export const SIZE = { width: 24, height: 16 };

/** Pictures of one size, each of an even grey, in the format of its name; returns the folder. */
export async function putStack(folder: string, greys: Readonly<Record<string, number>>, size = SIZE): Promise<string> {
  for (const [name, grey] of Object.entries(greys)) {
    const raw = { ...size, channels: 3 as const };
    const picture = sharp(Buffer.alloc(size.width * size.height * 3, grey), { raw });
    const format = { jpg: "jpeg", png: "png", webp: "webp", tif: "tiff", avif: "avif" }[name.split(".").at(-1) ?? ""] ?? "jpeg";
    put(join(folder, name), await picture.toFormat(format as "jpeg", { quality: 100 }).toBuffer());
  }
  return folder;
}
