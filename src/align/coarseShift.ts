import type { Plane } from "../image/boxFilter.ts";
import { linearOf, type Similarity } from "./similarity.ts";

/** Shifts up to this share of the image's smaller side are tried. */
const REACH = 0.3;

/** At least this share of the points must overlap for a shift to count. */
const OVERLAP = 0.4;

/** Penalty per pixel of shift: a repeating pattern fits at several shifts, and the smallest should win. */
const PREFERENCE = 2e-3;

/**
 * `seed`, moved by the whole-pixel shift at which the patterns correlate best. Gauss–Newton only converges within a pixel or two of its
 * start; this searches the rest on the coarsest level, where there are few pixels.
 */
export function coarseShift({ first, second, seed }: { first: Plane; second: Plane; seed: Similarity }): Similarity {
  const reach = Math.floor(REACH * Math.min(first.width, first.height));
  const { column, row } = seenThrough(seed, { first, second });
  let best = { score: -Infinity, x: 0, y: 0 };
  for (let y = -reach; y <= reach; y++)
    for (let x = -reach; x <= reach; x++) {
      const score = correlation({ first, second, column, row, x, y }) - PREFERENCE * Math.hypot(x, y);
      if (score > best.score) best = { score, x, y };
    }
  return { ...seed, shift: [seed.shift[0] + best.x, seed.shift[1] + best.y] };
}

/** For each pixel of the first frame, the pixel of the second that the seed maps it to. */
function seenThrough(seed: Similarity, { first, second }: { first: Plane; second: Plane }): { column: Int16Array; row: Int16Array } {
  const t = linearOf(seed);
  const [column, row] = [new Int16Array(first.values.length), new Int16Array(first.values.length)];
  for (let i = 0; i < first.values.length; i++) {
    const x = (i % first.width) - (first.width - 1) / 2;
    const y = Math.floor(i / first.width) - (first.height - 1) / 2;
    column[i] = Math.round(t.a * x - t.b * y + t.x + (second.width - 1) / 2);
    row[i] = Math.round(t.b * x + t.a * y + t.y + (second.height - 1) / 2);
  }
  return { column, row };
}

interface Shifted {
  readonly first: Plane;
  readonly second: Plane;
  readonly column: Int16Array;
  readonly row: Int16Array;
  readonly x: number;
  readonly y: number;
}

/** The innermost of four loops: it makes no arrays. */
function correlation({ first, second, column, row, x, y }: Shifted): number {
  const { width, height } = second;
  const here = first.values;
  const there = second.values;
  let inside = 0;
  let product = 0;
  let own = 0;
  let other = 0;
  for (let i = 0; i < column.length; i++) {
    const u = (column[i] as number) + x;
    const v = (row[i] as number) + y;
    if (u < 0 || v < 0 || u >= width || v >= height) continue;
    const one = here[i] as number;
    const two = there[v * width + u] as number;
    inside++;
    product += one * two;
    own += one * one;
    other += two * two;
  }
  return inside < OVERLAP * column.length ? -Infinity : product / Math.sqrt(own * other + 1e-30);
}
