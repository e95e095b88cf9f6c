import type { Image, StoredImage } from "../image/image.ts";
import { forEachRow, imageRows, type PictureRows } from "../image/rows.ts";
import { workspace } from "../image/simd/workspace.ts";
import type { FrameAlignment } from "./alignment.ts";
import { withWarpedRows } from "./apply.ts";
import { withGainRows } from "./exposure.ts";
import type { Similarity } from "./similarity.ts";

/** One frame, aligned to the reference; the same object if it has neither moved nor changed brightness. */
export function alignImage(image: Image, { transform, gain }: FrameAlignment, { equalizeExposure = true } = {}): Image {
  const change = { transform, gain: equalizeExposure ? gain : [] };
  if (!hasMoved(transform) && !hasGain(change.gain)) return image;
  const { width, height, channels } = image;
  const data = new Float32Array(width * height * channels);
  withAlignedRows(image, change, (rows) => {
    forEachRow(rows, image, (row, y) => {
      data.set(row, y * width * channels);
    });
  });
  return { width, height, channels, data };
}

/** The same row by row, for images of which only parts are needed. The rows exist as long as `use` runs. */
export function withAlignedRows<T>(
  image: Image | StoredImage,
  { transform, gain }: Pick<FrameAlignment, "transform" | "gain">,
  use: (rows: PictureRows) => T,
): T {
  const brightened = (rows: PictureRows): T => (hasGain(gain) ? withGainRows(rows, image.channels, gain, use) : use(rows));
  return hasMoved(transform) ? withWarpedRows(image, transform, brightened) : workspace().scoped(() => brightened(imageRows(image)));
}

/** Whether a frame with this transform must be resampled. */
export const hasMoved = ({ scale, angle, shift }: Similarity): boolean => scale !== 1 || angle !== 0 || shift[0] !== 0 || shift[1] !== 0;

/** Whether a frame with this gain must be brightened or darkened. */
export const hasGain = (gain: FrameAlignment["gain"]): boolean => gain.some((channel) => channel !== 1);
