import type { Size } from "../../../src/image/image.ts";
import { sizeWithin } from "../../../src/image/shrink.ts";

/** Even steps in 1/distance, like a focus ring, if depth is a distance. */
export interface FocusScale {
  readonly range: readonly [number, number];
  readonly isDistance: boolean;
}

const isInverse = ({ range: [least], isDistance }: FocusScale): boolean => isDistance && least > 0;

/** The depth at a share of the way from the least to the greatest. */
export function focusAt(share: number, scale: FocusScale): number {
  const [least, greatest] = scale.range;
  if (!isInverse(scale)) return least + share * (greatest - least);
  return 1 / (1 / least + share * (1 / greatest - 1 / least));
}

/** The share of a depth: the inverse of `focusAt`, between 0 and 1. */
export function shareOf(focus: number, scale: FocusScale): number {
  const [least, greatest] = scale.range;
  if (!(greatest > least)) return 0;
  const share = isInverse(scale) ? (1 / focus - 1 / least) / (1 / greatest - 1 / least) : (focus - least) / (greatest - least);
  return Math.min(Math.max(share, 0), 1);
}

/** From 0 to 1, slow at both ends. */
export const eased = (t: number): number => (t <= 0 ? 0 : t >= 1 ? 1 : t * t * (3 - 2 * t));

/** There and back: 0 at the ends, 1 in the middle. */
export const thereAndBack = (t: number): number => eased(t < 0.5 ? 2 * t : 2 - 2 * t);

/** Calls `step` with 0 … 1 in every frame for `seconds`, or once with 1 where motion is unwanted. Returns a function that stops it. */
export function animate(seconds: number, step: (t: number) => void): () => void {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    step(1);
    return () => undefined;
  }
  return everyFrame(seconds, step, () => undefined);
}

function everyFrame(seconds: number, step: (t: number) => void, ended: () => void): () => void {
  const begin = performance.now();
  let frame = requestAnimationFrame(function next() {
    const t = Math.min((performance.now() - begin) / 1000 / seconds, 1);
    step(t);
    if (t < 1) frame = requestAnimationFrame(next);
    else ended();
  });
  return () => {
    cancelAnimationFrame(frame);
  };
}

/** Kinds of video, the most compact first. */
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"] as const;
const BITS_PER_SECOND = 8e6;
const FRAMES_PER_SECOND = 30;

/** Films a canvas while `draw` is called with 0 … 1 for `seconds`. */
export async function film(
  canvas: HTMLCanvasElement,
  seconds: number,
  draw: (t: number) => void,
): Promise<{ video: Blob; extension: string }> {
  const type = typeof MediaRecorder === "undefined" ? undefined : TYPES.find((each) => MediaRecorder.isTypeSupported(each));
  if (type === undefined) throw new Error("This browser cannot record videos. Save single images instead.");
  const recorder = new MediaRecorder(canvas.captureStream(FRAMES_PER_SECOND), { mimeType: type, videoBitsPerSecond: BITS_PER_SECOND });
  const pieces: Blob[] = [];
  recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
  const stopped = new Promise<void>((resolve, reject) => {
    recorder.addEventListener("stop", () => {
      resolve();
    });
    recorder.addEventListener("error", () => {
      reject(new Error("The browser stopped recording."));
    });
  });
  draw(0);
  recorder.start();
  await new Promise<void>((resolve) => {
    everyFrame(seconds, draw, resolve);
  });
  recorder.stop();
  await stopped;
  for (const track of recorder.stream.getTracks()) track.stop();
  return { video: new Blob(pieces, { type }), extension: type.startsWith("video/mp4") ? "mp4" : "webm" };
}

/** An animation of a canvas: GIFs are large, so it is small and has few frames. */
export interface Animation extends Size {
  readonly frames: readonly Uint8ClampedArray[];
  /** Time between two frames [s]. */
  readonly delay: number;
}

const GIF = { side: 480, steps: 16, delay: 0.1 } as const;

/** Draws a canvas with 0 … 1 and back, and keeps what it shows. */
export async function animation(canvas: HTMLCanvasElement, draw: (t: number) => void): Promise<Animation> {
  const size = sizeWithin(canvas, GIF.side);
  const small = new OffscreenCanvas(size.width, size.height);
  const context = small.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("This browser cannot draw in the background.");
  const there: Uint8ClampedArray[] = [];
  for (let step = 0; step < GIF.steps; step++) {
    draw(eased(step / (GIF.steps - 1)));
    context.drawImage(canvas, 0, 0, size.width, size.height); // at once: WebGL forgets what it drew after a frame
    there.push(context.getImageData(0, 0, size.width, size.height).data);
    await new Promise(requestAnimationFrame);
  }
  return { ...size, frames: [...there, ...there.slice(1, -1).reverse()], delay: GIF.delay };
}
