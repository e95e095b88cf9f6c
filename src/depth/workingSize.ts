import { reduction, smallLuminance } from "../align/workingFrame.ts";
import { usualStep } from "../check/stepBlur.ts";
import { resize } from "../image/resize.ts";
import type { Image } from "../image/image.ts";
import type { Size } from "../image/image.ts";
import type { FocalStack } from "../stack/focalStack.ts";

/** Pixels of blur that a step to the next plane should add in the size the network looks at: less is hard to see (docs/depth.md). */
const GOOD_STEP = 4;
/** More only interpolates. */
const MOST = 2;
/** Less is not worth reading the pictures again. */
const LEAST = 1.2;
/** Pixels of all planes together: bounds time and memory. */
const MOST_PIXELS = 12_000_000;
/** Blur is measured on about as many pixels as the capture doctor looks at. */
const MEASURED_PIXELS = 400_000;

/** How many times larger the network should see an aligned stack whose planes blur it by too little; 1 where it is well as it is. */
export function goodEnlargement({ images }: Pick<FocalStack, "images">): number {
  const [first] = images as [Image];
  const factor = reduction(first, MEASURED_PIXELS);
  const step = usualStep(images.map((image) => smallLuminance(image, factor)));
  if (step === undefined) return 1;
  const affordable = Math.sqrt(MOST_PIXELS / (images.length * first.width * first.height));
  const wanted = Math.min(GOOD_STEP / (Math.max(step, 0.1) * factor), MOST, affordable);
  return wanted < LEAST ? 1 : wanted;
}

/** Pictures as large as they are wanted, interpolated where the files do not hold as much. */
export const enlargedTo = (image: Image, { width, height }: Size): Image =>
  image.width >= width && image.height >= height ? image : { ...image, ...resize(image, { width, height, filter: "lanczos" }) };
