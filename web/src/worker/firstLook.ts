import { alignStack } from "../../../src/align/align.ts";
import { reorderAlignment, resizeAlignment } from "../../../src/align/alignment.ts";
import { hasKnownOrder } from "../../../src/depth/frames.ts";
import { estimateDepth } from "../../../src/depth/estimate.ts";
import { workingPixels } from "../../../src/depth/working.ts";
import type { Image, Size } from "../../../src/image/image.ts";
import type { DepthNetwork } from "../../../src/network/depthNetwork.ts";
import { MOST_PLANES } from "../../../src/network/focusProbability.ts";
import { choosePlanes, type FocalStack } from "../../../src/stack/focalStack.ts";
import { inFocusOrder } from "../../../src/stack/stackSource.ts";
import { shrinkImage } from "../../../src/image/shrink.ts";
import { withThumbnails, type Caller, type Job } from "./job.ts";
import type { FirstLook } from "./protocol.ts";

/** Of each side: a quarter of the pixels, or fewer. */
const REDUCTION = 2;
/** Pixels of all planes together: half a second on two cores. */
const MOST_PIXELS = 500_000;
/** Smaller images show the network too little texture. */
const LEAST_SIDE = 96;

/**
 * Depth in a quarter of the size or less, from at most ten planes in one run of the network. The images are those the run will use; they are
 * aligned only if the alignment is known already. Where no distances give the order, it waits until the images show which end is near.
 */
export async function firstLook(job: Job, network: DepthNetwork, caller: Caller): Promise<FirstLook> {
  const begin = performance.now();
  const given = withThumbnails(job, caller);
  const order = hasKnownOrder(given) ? given.files.map((_, plane) => plane) : (await job.order.value).planes;
  const source = inFocusOrder(given, order);
  const planes = choosePlanes(source.files.length, Math.min(source.files.length, MOST_PLANES), "round");
  const images: Image[] = [];
  for (const plane of planes) {
    caller.signal.throwIfAborted();
    images.push(await source.readScaled(plane, workingPixels(source.size), caller.signal));
  }
  const size = smallSize(images[0] as Image, images.length);
  const small = images.map((image) => shrinkImage(image, size));
  const focusDistances = planes.map((plane) => source.focusDistances[plane] as number);
  const stack = await aligned({ images: small, focusDistances, space: source.space }, planes.map((plane) => order[plane] as number), job); // prettier-ignore
  const { depth } = await estimateDepth(stack, { network, signal: caller.signal });
  return { depth, seconds: (performance.now() - begin) / 1000 };
}

function smallSize({ width, height }: Size, planes: number): Size {
  const wanted = Math.min(1 / REDUCTION, Math.sqrt(MOST_PIXELS / (planes * width * height)));
  const factor = Math.min(1, Math.max(wanted, LEAST_SIDE / Math.min(width, height)));
  return { width: Math.round(factor * width), height: Math.round(factor * height) };
}

/** `planes`: those of the job that the images are. */
async function aligned(stack: FocalStack, planes: readonly number[], { alignment }: Job): Promise<FocalStack> {
  const chosen = alignment && reorderAlignment(alignment, planes);
  if (!chosen?.frames.every(({ ok }) => ok)) return stack;
  return (await alignStack(stack, { alignment: resizeAlignment(chosen, stack.images[0] as Image) })).stack;
}
