import type { Image } from "./image.ts";
import type { Plane } from "./boxFilter.ts";
import { workspace } from "./simd/workspace.ts";

/** Rec. 601 luma of the stored (gamma-encoded) values. */
export const luminance = (image: Image): Plane =>
  image.channels === 1 ? { width: image.width, height: image.height, values: image.data } : smallLuminance(image, 1);

/** The same, averaged over squares of side `factor`; a remainder is cropped equally on both sides, so that the centre stays. */
export function smallLuminance({ width, height, channels, data }: Image, factor: number): Plane {
  const small = { width: Math.floor(width / factor), height: Math.floor(height / factor) };
  const [left, top] = [(width - small.width * factor) >> 1, (height - small.height * factor) >> 1];
  const values = new Float32Array(small.width * small.height);
  const { kernels, take, heap, scoped } = workspace();
  scoped(() => {
    const samples = small.width * factor * channels;
    const [row, out] = [take(samples), take(small.width)];
    const room = heap();
    for (let y = 0; y < small.height; y++) {
      room.fill(0, out / 4, out / 4 + small.width);
      for (let k = 0; k < factor; k++) {
        const from = ((top + y * factor + k) * width + left) * channels;
        room.set(data.subarray(from, from + samples), row / 4);
        kernels.addLuma(out, row, small.width, channels, factor);
      }
      values.set(room.subarray(out / 4, out / 4 + small.width), y * small.width);
    }
  });
  return { ...small, values };
}
