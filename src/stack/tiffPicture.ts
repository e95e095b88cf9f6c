import { resize } from "../image/resize.ts";
import type { Image } from "../image/image.ts";
import { FormatError } from "../io/formatError.ts";
import { turnUpright } from "../image/orient.ts";
import { tiffImage } from "../io/tiff.ts";
import type { TiffPage } from "../io/tiff.ts";
import type { ReadOptions } from "./stackFiles.ts";

/** A page of a TIFF, divided by `white` as the other planes are, clipped to [0, 1]. */
export function tiffPicture(
  stored: TiffPage,
  { file, page, white, orientation, size }: ReadOptions & { file: string; page: number; white: number },
): Image {
  const turned = turnUpright(tiffImage(stored), orientation);
  const data = turned.data;
  for (let i = 0; i < data.length; i++) {
    const value = (data[i] as number) / white;
    if (!Number.isFinite(value)) throw new FormatError(`${file}: page ${page + 1} holds ${data[i]}, which is no brightness`);
    data[i] = value < 0 ? 0 : value > 1 ? 1 : value;
  }
  const image: Image = { width: turned.width, height: turned.height, channels: turned.channels === 1 ? 1 : 3, data };
  return size ? resize(image, { ...size, filter: "linear" }) : image;
}
