import type { Image } from "./image.ts";
import type { Plane } from "./boxFilter.ts";

/** Rec. 601 luma of the stored (gamma-encoded) values. */
export function luminance({ width, height, channels, data }: Image): Plane {
  if (channels === 1) return { width, height, values: data };
  const values = new Float32Array(width * height);
  for (let i = 0; i < values.length; i++)
    values[i] = 0.299 * (data[3 * i] as number) + 0.587 * (data[3 * i + 1] as number) + 0.114 * (data[3 * i + 2] as number);
  return { width, height, values };
}
