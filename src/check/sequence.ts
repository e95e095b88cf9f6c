import { LEAST_BLOCKS, type FocusMeasurement } from "./measure.ts";

/**
 * The order in which the focus passed through the scene, either way round. As it passes, each part gets sharper once and then blurs
 * again, and before the first and after the last frame everything is blurred: the right order is the shortest closed tour through the
 * frames and a frame in which nothing is sharp, by the mean change of the logarithm of sharpness.
 */
export interface Sequence {
  /** Frames of the measurement; of the two ways round, the one nearer to the given order. */
  readonly order: readonly number[];
  /** Share by which the given order is longer. */
  readonly gain: number;
  /** Share by which every order that differs by one move is longer: how clearly this order stands out. */
  readonly margin: number;
}

/** With fewer frames a wide gap looks like a wrong order. */
const LEAST_FRAMES = 5;
/** Tours begin at no more than this many frames, spread over the stack. */
const STARTS = 12;

/** Undefined if there are too few frames or too little detail. */
export function focusSequence({ frames, sharpness: { fine, noise }, textured }: FocusMeasurement): Sequence | undefined {
  if (frames.length < LEAST_FRAMES || textured.length < LEAST_BLOCKS) return undefined;
  const levels = fine.map((plane) => textured.map((block) => Math.log((plane[block] as number) + noise + 1e-12)));
  const blurred = textured.map((_, block) => Math.min(...levels.map((level) => level[block] as number)));
  const tour = tourLength([...levels, blurred]);
  const given = frames.map((_, n) => n);
  const found = startsOf(frames.length, tour)
    .map((start) => shortened(start, tour))
    .concat([shortened(given, tour)])
    .reduce((one, two) => (tour.of(two) < tour.of(one) - 1e-9 ? two : one));
  const order = isForward(found) ? found : found.toReversed();
  const others = [...moves(order)].filter((other) => !isSame(other, order) && !isSame(other.toReversed(), order));
  return {
    order,
    gain: tour.of(given) / tour.of(order) - 1,
    margin: Math.min(...others.map((other) => tour.of(other))) / tour.of(order) - 1,
  };
}

interface Tour {
  readonly between: (one: number, other: number) => number;
  /** The closed tour through these frames and the blurred one. */
  readonly of: (order: readonly number[]) => number;
}

function tourLength(levels: readonly (readonly number[])[]): Tour {
  const apart = levels.map((one) =>
    levels.map((other) => one.reduce((sum, value, i) => sum + Math.abs(value - (other[i] as number)), 0) / one.length),
  );
  const blurred = levels.length - 1;
  const between = (one: number, other: number): number => apart[one]?.[other] as number;
  const of = (order: readonly number[]): number => {
    let sum = between(blurred, order[0] as number) + between(order.at(-1) as number, blurred);
    for (let i = 1; i < order.length; i++) sum += between(order[i - 1] as number, order[i] as number);
    return sum;
  };
  return { between, of };
}

/** From some of the frames, always on to the nearest that is left. */
function startsOf(frames: number, { between }: Tour): number[][] {
  const count = Math.min(frames, STARTS);
  return Array.from({ length: count }, (_, i) => {
    const order = [Math.floor((i * frames) / count)];
    const left = new Set(Array.from({ length: frames }, (_, n) => n).filter((n) => n !== order[0]));
    while (left.size > 0) {
      const last = order.at(-1) as number;
      const next = [...left].reduce((best, n) => (between(last, n) < between(last, best) ? n : best));
      order.push(next);
      left.delete(next);
    }
    return order;
  });
}

/** Moves single frames and turns parts round as long as that shortens the tour. */
function shortened(start: readonly number[], tour: Tour): number[] {
  let best = [...start];
  for (let better: number[] | undefined = best; better;) {
    best = better;
    const length = tour.of(best);
    better = undefined;
    for (const other of moves(best))
      if (tour.of(other) < length - 1e-9) {
        better = other;
        break;
      }
  }
  return best;
}

function* moves(order: readonly number[]): Generator<number[]> {
  const count = order.length;
  for (let from = 0; from < count; from++)
    for (let to = from + 1; to < count; to++)
      if (to - from < count - 1) yield [...order.slice(0, from), ...order.slice(from, to + 1).reverse(), ...order.slice(to + 1)];
  for (let from = 0; from < count; from++)
    for (let to = 0; to < count; to++) if (to !== from) yield order.filter((_, i) => i !== from).toSpliced(to, 0, order[from] as number);
}

const isSame = (one: readonly number[], other: readonly number[]): boolean => one.every((n, i) => n === other[i]);

/** Whether more pairs are in rising than in falling order. */
function isForward(order: readonly number[]): boolean {
  let rising = 0;
  for (let i = 0; i < order.length; i++)
    for (let k = i + 1; k < order.length; k++) rising += Math.sign((order[k] as number) - (order[i] as number));
  return rising >= 0;
}
