import { stat } from "node:fs/promises";
import type { GeoTIFF } from "geotiff";
import { decodingAsync } from "../io/formatError.ts";
import { readTiffPage } from "../io/tiff.ts";
import type { TiffPage } from "../io/tiff.ts";
import { tiffInfo } from "./tiffInfo.ts";
import type { TiffInfo } from "./tiffInfo.ts";

export const probeTiff = (file: string): Promise<TiffInfo> => withTiff(file, tiffInfo);

/** One page at full size, as stored; nothing else of the file is held. */
export async function readTiffPlane(file: string, page: number): Promise<TiffPage> {
  return withTiff(file, async (tiff) => readTiffPage(await tiff.getImage(page), (await stat(file)).size));
}

async function withTiff<T>(file: string, use: (tiff: GeoTIFF) => Promise<T>): Promise<T> {
  return decodingAsync({ file, format: "TIFF" }, async () => {
    const { fromFile } = await import("geotiff"); // loaded only by those who read TIFF
    const tiff = await fromFile(file);
    try {
      return await use(tiff);
    } finally {
      await tiff.close();
    }
  });
}
