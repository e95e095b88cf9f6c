import type { Plane } from "../image/boxFilter.ts";
import { coarseShift } from "./coarseShift.ts";
import type { Features } from "./features.ts";
import { type Compared, solveMotion } from "./normalEquations.ts";
import { compare, type Points, pointsOf, roomFor } from "./points.ts";
import { blockOf, type Block } from "../image/pyramid.ts";
import { workspace } from "../image/simd/workspace.ts";
import type { Size } from "../image/image.ts";
import { compose, IDENTITY, invert, resized, type Similarity, similarityOf } from "./similarity.ts";

/** The transform between two frames, and how reliable it is. */
export interface PairEstimate {
  /** From points of the first frame to points of the second, in pixels of the finest level. */
  readonly transform: Similarity;
  /** Correlation of the patterns after alignment, on the level where they agree best, -1 to 1. */
  readonly correlation: number;
  /** Share of the first frame that lies inside the second. */
  readonly overlap: number;
  /** Remaining motion in pixels: root mean square over the blocks of the shift that would improve each further. */
  readonly residual: number;
  /** Standard error of the transform in pixels, root mean square over the image. Infinite if there is too little detail. */
  readonly error: number;
}

/** At most about this many points per level are compared, so that the time does not depend on the image size. */
const MOST_POINTS = 80_000;

/** Levels solved together: the finest alone tells nothing about areas that are out of focus or noisy. */
const TOGETHER = 4;

/** Gauss–Newton stops when a step moves the image's corner by less than this many pixels of the level. */
const SMALL_STEP = 0.005;
const MOST_STEPS = 25;

/**
 * Maximises the correlation of the two frames' patterns over similarity transforms, coarse to fine (Evangelidis and Psarakis 2008, in
 * the inverse compositional form of Baker and Matthews 2004): Gauss–Newton on weighted differences of locally normalised detail.
 */
export function estimatePair({ first, second, seed = IDENTITY }: { first: Features; second: Features; seed?: Similarity }): PairEstimate {
  const coarsest = first.length - 1;
  const seeded = coarseShift({
    first: first[coarsest] as Plane,
    second: second[coarsest] as Plane,
    seed: resized(seed, 1 / 2 ** coarsest),
  });
  return workspace().scoped(() => {
    const [here, there] = [first.map(patternOf), second.map(patternOf)];
    let transform = seeded;
    for (let level = coarsest; level > 0; level--)
      transform = resized(fitLevels(here.slice(level), there.slice(level), transform).transform, 2);
    return fitLevels(here, there, transform);
  });
}

const patternOf = ({ width, height, values }: Plane): Block => blockOf({ width, height, channels: 1, data: values });

/** Solves for the transform in pixels of the first, finest, of the levels. */
const fitLevels = (first: readonly Block[], second: readonly Block[], seed: Similarity): PairEstimate =>
  workspace().scoped(() => {
    const size: Size = first[0] as Block;
    const radius = Math.hypot(size.width, size.height) / 2;
    const levels = first.slice(0, TOGETHER).map((plane, k): ComparedLevel => {
      const points = pointsOf(plane, { most: MOST_POINTS, factor: 2 ** k });
      return { points, second: second[k] as Block, difference: roomFor(points) };
    });
    let transform = seed;
    let [error, residual] = [Infinity, Infinity];
    let compared = compareAll(levels, transform);
    for (let step = 0; step < MOST_STEPS; step++) {
      const solved = solveMotion(compared, size);
      if (!solved) break;
      ({ error, residual } = solved);
      const { small } = solved;
      transform = compose({ first: invert(similarityOf(small)), second: transform });
      compared = compareAll(levels, transform);
      if (Math.hypot(small.a - 1, small.b) * radius + Math.hypot(small.x, small.y) < SMALL_STEP) break;
    }
    const { overlap } = compared[0] as Compared;
    return { transform, correlation: Math.max(...compared.map((level) => level.correlation)), overlap, error, residual };
  });

interface ComparedLevel {
  readonly points: Points;
  readonly second: Block;
  /** Room for the differences of the points. */
  readonly difference: number;
}

const compareAll = (levels: readonly ComparedLevel[], transform: Similarity): Compared[] =>
  levels.map(({ points, second, difference }) => ({ points, ...compare(points, second, { transform, difference }) }));
