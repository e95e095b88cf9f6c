import { magnification } from "../optics/lens/thinLens.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import { estimatePair, type PairEstimate } from "./ecc.ts";
import type { Edge } from "./graph.ts";
import { IDENTITY, type Similarity } from "./similarity.ts";
import type { WorkingFrame } from "./workingFrame.ts";

/** A comparison of two frames, in working pixels. */
export interface Link extends Edge {
  /** Motion that the transform does not explain. */
  readonly residual: number;
  readonly correlation: number;
  /** Why the link cannot be used; absent if it can. */
  readonly fault?: string;
}

export interface LinkOptions extends Pick<FocalStack, "focusDistances" | "space"> {
  /** Metres; with metric distances it seeds the scale. */
  readonly focalLength?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the share done, in (0, 1]. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** Pairs with a larger standard error have too little detail in common. */
const LARGEST_ERROR = 0.5;
/** Patterns that correlate less on every level do not show the same scene. */
const LEAST_CORRELATION = 0.5;
/** More motion that no similarity explains means that the scene moved or that the images show different scenes. */
const LARGEST_RESIDUAL = 1.5;
const LEAST_OVERLAP = 0.5;
/** No lens breathes more between neighbouring planes, and no camera rotates more. */
const LARGEST_SCALE = 1.25;
const LARGEST_ANGLE = 0.2;

/** Share of the residual added to the standard error, which does not include blur that varies over the image. */
const SYSTEMATIC = 0.4;

/** A frame that matches neither neighbour is compared with frames up to this many planes away. */
const FARTHEST = 5;

/** Compares each frame with the next two, whose blur is most similar; a frame that matches neither is compared with others. */
export async function measureLinks(frames: readonly WorkingFrame[], options: LinkOptions): Promise<Link[]> {
  const pairs = frames.flatMap((_, n) => [n + 1, n + 2].filter((to) => to < frames.length).map((to) => ({ from: n, to })));
  const links: Link[] = [];
  for (const [i, pair] of pairs.entries()) {
    links.push(measureLink(frames, pair, options));
    options.onProgress?.((i + 1) / pairs.length);
    await pause();
    options.signal?.throwIfAborted();
  }
  for (let reach = 3; reach <= FARTHEST && parts(links, frames.length).length > 1; reach++)
    for (let from = 0; from + reach < frames.length; from++) {
      const to = from + reach;
      if (!isBridge(links, { from, to })) continue;
      links.push(measureLink(frames, { from, to }, options));
      await pause();
      options.signal?.throwIfAborted();
    }
  return links;
}

/** Lets pending events run: an abort signal, a progress display. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

const isBridge = (links: readonly Link[], { from, to }: { from: number; to: number }): boolean => !reachable(links, from).has(to);

function measureLink(frames: readonly WorkingFrame[], { from, to }: { from: number; to: number }, options: LinkOptions): Link {
  const seed = breathingSeed(options, { from, to, focalLength: options.focalLength });
  const [first, second] = [frames[from] as WorkingFrame, frames[to] as WorkingFrame];
  const estimate = estimatePair({ first: first.features, second: second.features, seed });
  const { transform, residual, correlation } = estimate;
  const fault = faultOf(estimate);
  const error = Math.hypot(estimate.error, SYSTEMATIC * residual);
  return { from, to, transform, residual, correlation, error, ...(fault === undefined ? {} : { fault }) };
}

/**
 * The focus breathing of a lens that moves as a whole (`magnification`). Real lenses breathe less, or the other way, so this only seeds
 * the search. Without metric distances or a focal length: no change.
 */
export function breathingSeed(
  { focusDistances, space }: Pick<FocalStack, "focusDistances" | "space">,
  { from, to, focalLength }: { from: number; to: number; focalLength: number | undefined },
): Similarity {
  const [first, second] = [focusDistances[from] as number, focusDistances[to] as number];
  if (space !== "depth" || focalLength === undefined || !(focalLength > 0 && Math.min(first, second) > focalLength)) return IDENTITY;
  return { ...IDENTITY, scale: magnification({ focalLength }, { focusDistance: second, reference: first }) };
}

function faultOf({ transform, error, correlation, residual, overlap }: PairEstimate): string | undefined {
  if (!(error <= LARGEST_ERROR)) return "it has too little detail in common with its neighbour";
  if (overlap < LEAST_OVERLAP) return `only ${(100 * overlap).toFixed(0)} % of it overlaps its neighbour`;
  if (correlation < LEAST_CORRELATION) return `it does not look like its neighbour (correlation ${correlation.toFixed(2)})`;
  const scale = Math.max(transform.scale, 1 / transform.scale);
  if (scale > LARGEST_SCALE || Math.abs(transform.angle) > LARGEST_ANGLE) return "no plausible motion aligns it to its neighbour";
  if (residual > LARGEST_RESIDUAL) return `parts of it moved differently, by ${residual.toFixed(1)} pixels of the working size`;
  return undefined;
}

/** The frames joined to `start` by usable links. */
function reachable(links: readonly Link[], start: number): Set<number> {
  const found = new Set([start]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const { from, to, fault } of links) if (fault === undefined && (found.has(from) || found.has(to))) found.add(from).add(to);
  }
  return found;
}

/** The groups of frames that usable links join, largest first. */
export function parts(links: readonly Link[], frames: number): Set<number>[] {
  const groups: Set<number>[] = [];
  for (let n = 0; n < frames; n++) if (!groups.some((group) => group.has(n))) groups.push(reachable(links, n));
  return groups.sort((one, two) => two.size - one.size);
}
