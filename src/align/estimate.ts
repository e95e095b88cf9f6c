import type { Alignment, FrameAlignment } from "./alignment.ts";
import { exposureGain, type Gain } from "./exposure.ts";
import { contradiction, type Placement, placeFrames } from "./graph.ts";
import { type Link, type LinkOptions, measureLinks, parts } from "./links.ts";
import type { Size } from "../image/image.ts";
import { distance, IDENTITY, resized } from "./similarity.ts";
import type { WorkingFrame } from "./workingFrame.ts";

export interface EstimateOptions extends LinkOptions {
  /** The frame that is not moved. Default: the middle plane, or the plane nearest to it that others can be aligned to. */
  readonly reference?: number | undefined;
}

/** Motion below this, in working pixels, is not corrected. */
const STILL = 0.1;
/**
 * A whole stack counts as still if no frame's motion exceeds four standard errors, within these bounds in working pixels. Blur that
 * changes at depth edges looks like motion of up to the first bound; motion above the second is real.
 */
const SIGNIFICANT = 4;
const STACK_STILL = [0.25, 0.4] as const;

/** Smaller differences in exposure are not corrected. */
const SAME_EXPOSURE = 0.005;

/** Estimates the alignment: compares neighbouring frames, then places all of them so that the comparisons agree best. */
export async function estimateAlignment(frames: readonly WorkingFrame[], options: EstimateOptions): Promise<Alignment> {
  const { size, factor, features } = frames[0] as WorkingFrame;
  const working = features[0] as Size;
  const links = await measureLinks(frames, options);
  const linked = largestPart(links, { frames: frames.length, wanted: options.reference });
  const reference = nearestTo(options.reference ?? frames.length >> 1, linked);
  const placed = place(links, { linked, reference, size: working });
  const { light } = frames[reference] as WorkingFrame;
  const still = [...placed.values()].every((placement) => isStill(placement, working));
  const aligned = frames.map((frame, n): FrameAlignment => {
    const placement = placed.get(n);
    if (!placement) return { transform: IDENTITY, gain: noGain(frame), ok: false, reason: reasonFor(n, links) };
    const moved = !still && distance(placement.transform, IDENTITY, working) > STILL;
    const transform = resized(placement.transform, factor);
    const gain = exposureGain({ reference: light, frame: frame.light }, transform);
    const residual = residualOf(n, { links, placed, size: working });
    return {
      transform: moved ? transform : IDENTITY,
      gain: gain?.some((channel) => Math.abs(channel - 1) > SAME_EXPOSURE) ? gain : noGain(frame),
      ...(residual === undefined ? {} : { residual: residual * factor }),
      ok: true,
    };
  });
  return { width: size.width, height: size.height, reference, frames: aligned };
}

const noGain = ({ light }: WorkingFrame): Gain => Array.from({ length: light.channels }, () => 1);

/** The largest group of frames that can be aligned to one another, or the group with the wanted reference. */
function largestPart(links: readonly Link[], { frames, wanted }: { frames: number; wanted: number | undefined }): Set<number> {
  const groups = parts(links, frames);
  return (wanted === undefined ? groups[0] : groups.find((group) => group.has(wanted))) ?? new Set([0]);
}

const nearestTo = (wanted: number, linked: ReadonlySet<number>): number =>
  [...linked].reduce((best, n) => (Math.abs(n - wanted) < Math.abs(best - wanted) ? n : best));

/** Places the linked frames; others are absent. */
function place(
  links: readonly Link[],
  { linked, reference, size }: { linked: ReadonlySet<number>; reference: number; size: Size },
): Map<number, Placement> {
  const members = [...linked].sort((p, q) => p - q);
  const edges = links
    .filter(({ from, to, fault }) => fault === undefined && linked.has(from) && linked.has(to))
    .map((link) => ({ ...link, from: members.indexOf(link.from), to: members.indexOf(link.to) }));
  const placements = placeFrames(edges, { frames: members.length, reference: members.indexOf(reference), size });
  return new Map(members.map((member, i) => [member, placements[i] as Placement]));
}

function isStill({ transform, error }: Placement, size: Size): boolean {
  return distance(transform, IDENTITY, size) <= Math.min(Math.max(STACK_STILL[0], SIGNIFICANT * error), STACK_STILL[1]);
}

/** Remaining motion between a frame and its nearest neighbours in working pixels: the blocks' residual and the links' contradiction. */
function residualOf(
  n: number,
  { links, placed, size }: { links: readonly Link[]; placed: ReadonlyMap<number, Placement>; size: Size },
): number | undefined {
  const own = links.filter(({ from, to, fault }) => fault === undefined && (from === n || to === n) && placed.has(from) && placed.has(to));
  const nearest = Math.min(...own.map(({ from, to }) => to - from));
  const squares = own
    .filter(({ from, to }) => to - from === nearest)
    .map((link) => {
      const ends = [placed.get(link.from), placed.get(link.to)].map((placement) => (placement as Placement).transform);
      return link.residual ** 2 + contradiction({ ...link, from: 0, to: 1 }, ends, size) ** 2;
    });
  return squares.length === 0 ? undefined : Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

/** The fault of the link that came closest to being usable. */
function reasonFor(n: number, links: readonly Link[]): string {
  const own = links.filter(({ from, to, fault }) => (from === n || to === n) && fault !== undefined);
  const best = own.sort((one, two) => two.correlation - one.correlation)[0];
  return best?.fault ?? "it only matches frames that could not be aligned either";
}
