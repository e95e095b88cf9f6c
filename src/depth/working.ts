import { alignStack, type AlignedStack } from "../align/align.ts";
import { resizeAlignment } from "../align/alignment.ts";
import { reduction } from "../align/workingFrame.ts";
import { usualStep } from "../check/stepBlur.ts";
import type { Image, Size } from "../image/image.ts";
import { resize } from "../image/resize.ts";
import { smallLuminance } from "../image/luminance.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import type { StackSource } from "../stack/stackSource.ts";
import type { OnStage } from "./progress.ts";

/** Longer side of what the network sees: similar to its training images, and fast on two cores. */
export const WORKING_SIDE = 768;

export interface WorkingOptions {
  /** Longer side of what the network sees; "auto": `WORKING_SIDE`, or more where planes differ by too little blur. */
  readonly workingSide: number | "auto";
  readonly onStage: OnStage;
  readonly signal: AbortSignal;
}

/** Minimum length of the shorter side, for panoramas. */
export const LEAST_SIDE = 32;

/** Most pixels of an image whose longer side is at most `side`. */
export function workingPixels({ width, height }: Size, side = WORKING_SIDE): number {
  const factor = Math.min(1, Math.max(side / Math.max(width, height), LEAST_SIDE / Math.min(width, height)));
  return width * height * factor ** 2;
}

/** The images in the size the network sees them in. */
export async function readWorking(source: StackSource, { workingSide, onStage, signal }: WorkingOptions): Promise<FocalStack> {
  const pixels = workingPixels(source.size, workingSide === "auto" ? WORKING_SIDE : workingSide);
  const images: Image[] = [];
  for (const plane of source.files.keys()) {
    signal.throwIfAborted();
    images.push(await source.readScaled(plane, pixels));
    onStage("read", plane + 1, source.files.length);
  }
  return { images, focusDistances: source.focusDistances, space: source.space };
}

/** The images in the largest size that "auto" would choose without interpolating; undefined if that is hardly more than they have. */
export async function readLarger(
  { images, focusDistances }: FocalStack,
  source: StackSource,
  signal: AbortSignal,
): Promise<FocalStack | undefined> {
  const [{ width, height }] = images as [Image];
  const most = Math.min(workingPixels(source.size, MOST * WORKING_SIDE), MOST_PIXELS / focusDistances.length);
  if (Math.min(most, source.size.width * source.size.height) < LEAST ** 2 * width * height) return undefined;
  const workingSide = Math.max(source.size.width, source.size.height) * Math.sqrt(most / (source.size.width * source.size.height));
  return readWorking(source, { workingSide, onStage: () => undefined, signal });
}

interface Working {
  readonly aligned: AlignedStack | undefined;
  readonly stack: FocalStack;
}

/** The same stack in a larger size if its planes differ by too little blur for the network to detect: `read`, before its alignment, or read again. */
export async function wellSized(
  { aligned, stack, read: known }: Working & { readonly read: FocalStack },
  source: StackSource,
  options: WorkingOptions,
): Promise<Working> {
  const enlargement = options.workingSide === "auto" ? goodEnlargement(stack) : 1;
  if (enlargement === 1) return { aligned, stack };
  const [{ width, height }] = stack.images as [Image];
  const size = { width: Math.round(width * enlargement), height: Math.round(height * enlargement) };
  const isWhole = known.images.every((image) => image.width === source.size.width && image.height === source.size.height);
  const read = isWhole ? known : await readWorking(source, { ...options, workingSide: Math.max(size.width, size.height) });
  const hasPixels = source.size.width >= size.width && source.size.height >= size.height; // then rounding alone keeps what is read from this size
  const larger = hasPixels ? read : { ...read, images: read.images.map((image) => resize(image, { ...size, filter: "lanczos" })) };
  if (!aligned) return { aligned, stack: larger };
  const again = await alignStack(larger, { alignment: resizeAlignment(aligned.alignment, larger.images[0] as Image) });
  return { aligned: again, stack: again.stack };
}

/** Pixels of blur that a step to the next plane should add in working size; less is hard to detect (docs/depth.md). */
const GOOD_STEP = 4;
/** A larger factor only interpolates. */
const MOST = 2;
/** A smaller factor is not worth reading the images again. */
const LEAST = 1.2;
/** Pixels of all planes together: limits time and memory. */
const MOST_PIXELS = 12_000_000;
/** Blur is measured on about as many pixels as in the stack check. */
const MEASURED_PIXELS = 400_000;

/** Factor by which to enlarge an aligned stack whose planes differ by too little blur; 1 if it is fine as it is. */
export function goodEnlargement({ images }: Pick<FocalStack, "images">): number {
  const [first] = images as [Image];
  const factor = reduction(first, MEASURED_PIXELS);
  const step = usualStep(images.map((image) => smallLuminance(image, factor)));
  if (step === undefined) return 1;
  const affordable = Math.sqrt(MOST_PIXELS / (images.length * first.width * first.height));
  const wanted = Math.min(GOOD_STEP / (Math.max(step, 0.1) * factor), MOST, affordable);
  return wanted < LEAST ? 1 : wanted;
}
