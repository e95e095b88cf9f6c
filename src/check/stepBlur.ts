import { boxMeanBlock, type Plane } from "../image/boxFilter.ts";
import { blockOf, type Block } from "../image/pyramid.ts";
import { workspace } from "../image/simd/workspace.ts";
import { BLOCK, blockSharpness, peakOf, ratioAt, texturedBlocks, type BlockSharpness } from "./sharpness.ts";

/** The blurs to try: box filters of these radii, applied once or twice; `share` of the blurred image is mixed with the sharp one. */
const BLURS = [
  { radius: 0, passes: 1, share: 0 },
  { radius: 1, passes: 1, share: 0.25 },
  { radius: 1, passes: 1, share: 0.5 },
  { radius: 1, passes: 1, share: 1 },
  ...[1, 2, 3, 4, 5, 6, 8, 10, 13].map((radius) => ({ radius, passes: 2, share: 1 })),
] as const;
type Blur = (typeof BLURS)[number];

/** Diameter of the disk with the same variance: d²/16 for a disk, ((2r + 1)² - 1)/12 for a box. */
const diameter = ({ radius, passes, share }: Blur): number => 4 * Math.sqrt((share * passes * ((2 * radius + 1) ** 2 - 1)) / 12);

/** Fewer blocks are not enough to measure how much blur a step adds. */
const LEAST_BLOCKS = 6;

interface Steps {
  readonly from: Plane;
  /** The planes before and after it. */
  readonly to: readonly Plane[];
  /** Blocks in focus on `from`. */
  readonly blocks: readonly number[];
}

/**
 * How much blur the step to each of the other planes adds to what is in focus on `from`: for each block the diameter, in pixels, of the
 * blur that best matches it; then the median. Undefined if too little is in focus.
 */
function addedBlurs({ from, to, blocks }: Steps): (number | undefined)[] {
  if (blocks.length < LEAST_BLOCKS) return to.map(() => undefined);
  const errors = workspace().scoped(() => {
    const [sharp, ...others] = [from, ...to].map(({ width, height, values }) => blockOf({ width, height, channels: 1, data: values })) as [Block, ...Block[]]; // prettier-ignore
    return BLURS.map((blur) => withBlurred(sharp, blur, (blurred) => others.map((other) => blockErrors(blurred, other, blocks))));
  });
  return to.map((_, n) => {
    const best = blocks.map((_, i) => {
      const all = errors.map((perPlane) => perPlane[n]?.[i] as number);
      return diameter(BLURS[all.indexOf(Math.min(...all))] as Blur);
    });
    return best.sort((p, q) => p - q)[best.length >> 1];
  });
}

/** A block is in focus if its ratio of fine to coarse energy is above this. */
const SHARP_RATIO = 0.1;

/** The blur that each step to the next plane adds, mean of both directions; undefined if nothing is in focus on either plane. */
export function stepBlurs(
  frames: readonly Plane[],
  { sharpness, textured }: { sharpness: BlockSharpness; textured: readonly number[] },
): (number | undefined)[] {
  const inFocus = frames.map((_, n) =>
    textured.filter((block) => peakOf(sharpness, block) === n && ratioAt(sharpness, block, n) > SHARP_RATIO),
  );
  const around = (n: number): number[] => [n - 1, n + 1].filter((plane) => plane in frames);
  const blurs = frames.map((from, n) =>
    addedBlurs({ from, to: around(n).map((plane) => frames[plane] as Plane), blocks: inFocus[n] as number[] }),
  );
  const added = (from: number, to: number): number | undefined => blurs[from]?.[around(from).indexOf(to)];
  return frames.slice(1).map((_, n) => {
    const ways = [added(n, n + 1), added(n + 1, n)].filter((blur) => blur !== undefined);
    return ways.length === 0 ? undefined : ways.reduce((sum, blur) => sum + blur, 0) / ways.length;
  });
}

/** The median blur, in pixels, that a step between planes of an aligned stack adds; undefined if too little is in focus. */
export function usualStep(frames: readonly Plane[]): number | undefined {
  const sharpness = blockSharpness(frames);
  return middle(stepBlurs(frames, { sharpness, textured: texturedBlocks(sharpness) }));
}

/** The median of the known values. */
export function middle(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).sort((p, q) => p - q);
  return known[known.length >> 1];
}

/** Calls `use` with the blurred plane, which exists as long as it runs. */
function withBlurred<T>(plane: Block, { radius, passes, share }: Blur, use: (blurred: Block) => T): T {
  const { kernels, scoped } = workspace();
  if (share === 0) return use(plane);
  return scoped(() => {
    let smooth = plane;
    for (let pass = 0; pass < passes; pass++) smooth = boxMeanBlock(smooth, radius);
    if (share < 1) kernels.mixTwo(smooth.address, plane.address, smooth.address, plane.width * plane.height, share);
    return use(smooth);
  });
}

function blockErrors(one: Block, other: Block, blocks: readonly number[]): number[] {
  const { kernels } = workspace();
  const { width } = one;
  const columns = Math.floor(width / BLOCK);
  return blocks.map((block) => {
    const at = 4 * (Math.floor(block / columns) * BLOCK * width + (block % columns) * BLOCK);
    return kernels.squareError(one.address + at, other.address + at, width, BLOCK);
  });
}
