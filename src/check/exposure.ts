import type { Alignment, FrameAlignment } from "../align/alignment.ts";
import type { Image } from "../image/image.ts";
import type { Finding } from "./finding.ts";

/** An image with a smaller standard deviation shows nothing: a lens cap, a flash frame, a broken file. */
const BLANK_SPREAD = 0.01;
/** Stored values from here up count as clipped. */
const WHITE = 0.995;
/** Highlights clip in many good photographs; a tenth of the image is too much, because focus cannot be measured there. */
const CLIPPED_SHARE = 0.1;
/** A sixth of a stop. Focus breathing changes the light by 1 or 2 % per step; more is the camera's automatic exposure. */
const JUMP = 1.12;

const shadeOf = (value: number): string => (value < 0.1 ? "black" : value > 0.9 ? "white" : "grey");

/** Planes that show nothing. */
export const blankPlanes = (images: readonly Image[]): number[] => images.flatMap((image, plane) => (isBlank(image) ? [plane] : []));

function isBlank({ data }: Image): boolean {
  const stride = Math.max(1, Math.floor(data.length / 100_000));
  let [sum, squares, count] = [0, 0, 0];
  for (let i = 0; i < data.length; i += stride, count++) {
    sum += data[i] as number;
    squares += (data[i] as number) ** 2;
  }
  return Math.sqrt(Math.max(squares / count - (sum / count) ** 2, 0)) < BLANK_SPREAD;
}

export function checkBrightness(images: readonly Image[], nameOf: (plane: number) => string): Finding[] {
  const blank = blankPlanes(images);
  if (blank.length === images.length && blank.length > 1) {
    const shades = new Set(images.map(({ data }) => shadeOf(data[0] as number)));
    const message = `all ${images.length} images are blank (${[...shades].join(", ")})`;
    return [{ code: "blank-frame", severity: "error", message, remedy: "take them again, of something with texture" }];
  }
  return images.flatMap((image, plane): Finding[] => {
    if (blank.includes(plane)) {
      const shade = shadeOf(image.data[0] as number);
      const message = `${nameOf(plane)} is blank (${shade})`;
      return [{ code: "blank-frame", severity: "error", plane, message, remedy: "remove it, or retake it" }];
    }
    const share = clippedShare(image);
    if (share < CLIPPED_SHARE) return [];
    const message = `${nameOf(plane)}: ${(100 * share).toFixed(0)} % of the image is clipped to white`;
    return [{ code: "clipped", severity: "warning", plane, message, remedy: "expose less: focus cannot be measured in pure white" }];
  });
}

function clippedShare({ data, channels }: Image): number {
  let clipped = 0;
  for (let i = 0; i < data.length; i += channels) {
    const darkest = channels === 1 ? (data[i] as number) : Math.min(data[i] as number, data[i + 1] as number, data[i + 2] as number);
    if (darkest >= WHITE) clipped++;
  }
  return (clipped * channels) / data.length;
}

/** Steps of brightness between neighbouring aligned frames. */
export function checkExposure({ frames }: Alignment, nameOf: (plane: number) => string): Finding[] {
  const aligned = frames.flatMap(({ ok }, n) => (ok ? [n] : []));
  return aligned.slice(1).flatMap((plane, i): Finding[] => {
    const before = aligned[i] as number;
    const step = level(frames[before] as FrameAlignment) / level(frames[plane] as FrameAlignment);
    if (Math.max(step, 1 / step) < JUMP) return [];
    const change = `${Math.abs(Math.log2(step)).toFixed(1)} stops ${step > 1 ? "brighter" : "darker"}`;
    const remedy = "lock exposure, white balance and ISO; the brightness is equalised except where it is clipped";
    return [{ code: "exposure-jump", severity: "warning", plane, message: `${nameOf(plane)} is ${change} than ${nameOf(before)}`, remedy }];
  });
}

/** Mean gain over the channels. */
const level = ({ gain }: FrameAlignment): number => gain.reduce((sum, channel) => sum + channel, 0) / gain.length;
