import { blurredFrames, checkBlurred, withoutFrames } from "./blurred.ts";
import type { Finding } from "./finding.ts";
import { LEAST_BLOCKS, type FocusMeasurement } from "./measure.ts";
import { peakOf, ratioAt, type BlockSharpness } from "./sharpness.ts";
import { middle, stepBlurs } from "./stepBlur.ts";

/** Blurred by 4 pixels or more, fine detail has less than this of the energy of coarse detail. */
const BLURRED_RATIO = 0.04;
/** Smooth shading looks like blur too, but does not change with focus; the coarse energy of blurred detail varies at least by this factor. */
const VARIES = 1.15;
/** In every good stack some detail seems never in focus. */
const NEVER_SHARE = 0.12;

/** Blur diameters in pixels at the checked size, about the network's working size. It was trained on up to 10 between planes. */
const GAP = 12;
/** A step also counts as a gap if it is this many times the usual one and at least this large. */
const UNEVEN = { times: 2, least: 7 } as const;

/** The order is doubted only if moving one plane shortens the path through the stack by this share. */
const SHORTER = 0.15;
/** With fewer planes a wide gap looks like a wrong order. */
const LEAST_TO_ORDER = 5;

export interface FocusOptions {
  readonly nameOf: (plane: number) => string;
  /** What another check made of the order; undefined if none has judged it. */
  readonly order: "right" | "doubtful" | undefined;
}

/** The checks that need the sharpness of the aligned frames: blurred ones, their order, gaps between them, and detail that is sharp in none of them. */
export function checkFocus(all: FocusMeasurement, { nameOf, order }: FocusOptions): Finding[] {
  const blurred = blurredFrames(all);
  const measured = withoutFrames(all, blurred);
  const { frames, sharpness, textured } = measured;
  if (frames.length < 2 || textured.length < LEAST_BLOCKS) return [];
  const misplaced = order === undefined ? checkOrder(measured, nameOf) : [];
  // In the wrong order the ends of a stack look blurred, and any step like a gap.
  const soft = misplaced.length > 0 || order === "doubtful" ? [] : checkBlurred(all, blurred, nameOf);
  const gaps = misplaced.length > 0 ? [] : checkGaps(measured, nameOf);
  return [...soft, ...misplaced, ...gaps, ...checkNeverInFocus(sharpness, textured)];
}

/**
 * As the focus passes through the scene, each block gets sharper and then blurs again: in the right order of the planes the total change
 * of sharpness is smallest. If moving one plane shortens this path a lot, that plane is out of order.
 */
function checkOrder({ sharpness, textured, planes }: FocusMeasurement, nameOf: (plane: number) => string): Finding[] {
  const count = planes.length;
  if (count < LEAST_TO_ORDER) return [];
  const apart = distances(sharpness, textured);
  const length = (order: readonly number[]): number =>
    order.slice(1).reduce((sum, n, i) => sum + (apart[order[i] as number]?.[n] as number), 0);
  const given = Array.from({ length: count }, (_, n) => n);
  const moves = given.flatMap((n) => {
    const others = given.filter((other) => other !== n);
    // Both end planes blur a scene in the middle equally: sharpness cannot tell the two ends apart.
    const places = given.filter((place) => !(n === 0 && place >= count - 2) && !(n === count - 1 && place <= 1));
    return places.map((place) => ({ n, place, order: others.toSpliced(place, 0, n) }));
  });
  const best = moves.reduce((one, two) => (length(two.order) < length(one.order) ? two : one));
  if (length(best.order) > (1 - SHORTER) * length(given)) return [];
  const name = (n: number | undefined): string | undefined => (n === undefined ? undefined : nameOf(planes[n] as number));
  const [before, after] = [name(best.order[best.place - 1]), name(best.order[best.place + 1])];
  const where = before && after ? `between ${before} and ${after}` : before ? `after ${before}` : `before ${after ?? "the others"}`;
  const message = `${nameOf(planes[best.n] as number)} seems to be out of order: judged by its sharpness it belongs ${where}`;
  const remedy = "check its focus distance, or the order of the files";
  return [{ code: "order", severity: "warning", plane: planes[best.n] as number, message, remedy }];
}

/** Mean change of the logarithm of sharpness between any two planes. */
function distances({ fine, noise }: BlockSharpness, textured: readonly number[]): number[][] {
  const levels = fine.map((plane) => textured.map((block) => Math.log((plane[block] as number) + noise + 1e-12)));
  return levels.map((one) =>
    levels.map((other) => one.reduce((sum, value, i) => sum + Math.abs(value - (other[i] as number)), 0) / textured.length),
  );
}

function checkGaps({ frames, sharpness, textured, planes }: FocusMeasurement, nameOf: (plane: number) => string): Finding[] {
  const steps = stepBlurs(frames, { sharpness, textured });
  const usual = middle(steps) ?? 0;
  return steps.flatMap((step, n): Finding[] => {
    if (step === undefined) return [];
    const uneven = step >= UNEVEN.times * usual && step >= UNEVEN.least;
    if (step < GAP && !uneven) return [];
    const [before, plane] = [planes[n] as number, planes[n + 1] as number];
    const message = `${nameOf(before)} and ${nameOf(plane)} are far apart: what is sharp in one is blurred by ${step.toFixed(0)} pixels in the other`;
    const remedy = uneven
      ? `the usual step adds ${usual.toFixed(0)} pixels: take the missing planes between them`
      : "take more planes, or stop the lens down; what lies between the two is sharp in neither";
    return [{ code: "gap", severity: "warning", plane, message, remedy }];
  });
}

function checkNeverInFocus(sharpness: BlockSharpness, textured: readonly number[]): Finding[] {
  const never = textured.filter((block) => {
    const coarse = sharpness.coarse.map((plane) => plane[block] as number);
    const varies = Math.max(...coarse) > VARIES * Math.min(...coarse);
    return varies && ratioAt(sharpness, block, peakOf(sharpness, block)) < BLURRED_RATIO;
  });
  const share = never.length / textured.length;
  if (share < NEVER_SHARE) return [];
  const last = sharpness.fine.length - 1;
  const towards = (plane: number): number => never.filter((block) => peakOf(sharpness, block) === plane).length;
  const side =
    towards(0) > never.length / 2 ? "nearer than the first plane" : towards(last) > never.length / 2 ? "beyond the last plane" : "";
  const message = `${(100 * share).toFixed(0)} % of the detail is never in focus, ${where(never, sharpness)}${side && `; it seems to lie ${side}`}`;
  return [
    {
      code: "never-in-focus",
      severity: "warning",
      message,
      remedy: "move the focus through the whole scene and a little beyond both ends",
    },
  ];
}

/** The parts of the image (of 3 × 3) with the most of these blocks. */
function where(blocks: readonly number[], { columns, rows }: BlockSharpness): string {
  const names = ["top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom", "bottom right"];
  const counts = names.map((name, ninth) => ({
    name,
    count: blocks.filter((block) => {
      const [column, row] = [block % columns, Math.floor(block / columns)];
      return Math.floor((3 * row) / rows) * 3 + Math.floor((3 * column) / columns) === ninth;
    }).length,
  }));
  const most = counts.filter(({ count }) => count >= blocks.length / 5).sort((one, two) => two.count - one.count);
  return most.length === 0 ? "all over the image" : `mostly ${most.map(({ name }) => name).join(" and ")}`;
}
