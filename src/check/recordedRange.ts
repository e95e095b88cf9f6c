import type { FrameAlignment } from "../align/alignment.ts";
import { DARK } from "../align/exposure.ts";
import { CLIPPED } from "../align/workingFrame.ts";
import type { Image } from "../image/image.ts";
import { decodeSrgb, encodeSrgb } from "../image/srgb.ts";

/** Stored values in the exposure of the reference. */
export interface RecordedRange {
  /** Darker values are mostly rounding errors, which equalising the exposures amplifies. */
  readonly darkest: number;
  /** Of each channel: what is white in the most exposed frame. */
  readonly brightest: readonly number[];
}

/**
 * The range in which every frame records detail once exposures are equal. Outside it some frames show detail that others have lost, as if the focus had
 * changed. Undefined where exposures are equal: lights that are white in all frames may still come into focus.
 */
export function recordedRange(frames: readonly FrameAlignment[]): RecordedRange | undefined {
  const gains = frames.flatMap(({ ok, gain }) => (ok ? [gain] : []));
  const least = (gains[0] ?? []).map((_, c) => Math.min(...gains.map((gain) => gain[c] as number)));
  const spread = Math.max(...gains.flat()) - Math.min(...least);
  if (!(spread > 0)) return undefined;
  return { darkest: encodeSrgb(spread * DARK), brightest: least.map((gain) => Math.min(encodeSrgb(gain * decodeSrgb(CLIPPED)), 1)) };
}

/** The image without what is brighter than the range. */
export function withoutBrighter(image: Image, { brightest }: RecordedRange): Image {
  const { channels } = image;
  const data = image.data.slice();
  const [least, most] = [Math.min(...brightest), Float32Array.from(brightest)];
  for (let i = 0; i < data.length; i++)
    if ((data[i] as number) > least) data[i] = Math.min(data[i] as number, most[i % channels] as number);
  return { ...image, data };
}
