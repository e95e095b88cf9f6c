import { DualFocusError } from "../errors.ts";
import type { Size } from "../image/image.ts";
import { FormatError } from "../io/formatError.ts";
import { baseName } from "./stackFormat.ts";

const VIDEO = /\.(mp4|m4v|mov|webm|mkv|avi|3gp|mts|m2ts)$/i;

export const isVideo = (file: string): boolean => VIDEO.test(file);

/** What a frame of a video is called as an image. */
export const frameName = (frame: number): string => `frame_${String(frame).padStart(5, "0")}.png`;

/** What the choice of frames from a focus-sweep video needs to know about one frame. */
export interface SweepFrame {
  /** Energy of the finest detail in each block, which only focus changes. */
  readonly detail: Float64Array;
  /** Mean brightness of each block, which focus leaves alone. */
  readonly tone: Float64Array;
}

/** Frames are described at this many pixels on their longer side. */
export const SWEEP_SIDE = 480;

const [COLUMNS, ROWS] = [12, 9];

/** Smaller frames leave blocks without pixels. */
const LEAST: Size = { width: 2 * COLUMNS, height: 2 * ROWS };

/** Frames that are looked at: more than ten minutes of video. What is described of each takes 2 kB. */
const MOST_FRAMES = 20_000;

/** Called before a frame is described, with its size at that time. */
export function checkFrameSize(file: string, { width, height }: Size): void {
  if (width >= LEAST.width && height >= LEAST.height) return;
  const message = `${file}: its frames are only ${width}×${height} pixels; ${LEAST.width}×${LEAST.height} are needed`;
  throw new DualFocusError("image-too-small", message, { facts: { file } });
}

/** Called for each frame with the number of frames up to it. */
export function checkFrameCount(file: string, count: number): void {
  if (count > MOST_FRAMES)
    throw new FormatError(`${file}: the video has more than ${MOST_FRAMES} frames; cut it down to the moment at which the focus moves`);
}

/** `values`: grey, row by row, 0 to 255. */
export function describeFrame({ width, height, values }: Size & { readonly values: Uint8Array }): SweepFrame {
  const [detail, tone, count] = [0, 0, 0].map(() => new Float64Array(COLUMNS * ROWS)) as [Float64Array, Float64Array, Float64Array];
  const columnOf = Uint8Array.from({ length: width }, (_, x) => Math.floor((x * COLUMNS) / width));
  for (let y = 1; y < height - 1; y++) {
    const row = Math.floor((y * ROWS) / height) * COLUMNS;
    for (let x = 1, i = y * width + 1; x < width - 1; x++, i++) {
      const block = row + (columnOf[x] as number);
      const value = values[i] as number;
      const around = (values[i - 1] as number) + (values[i + 1] as number) + (values[i - width] as number) + (values[i + width] as number);
      detail[block] = (detail[block] as number) + (value - around / 4) ** 2;
      tone[block] = (tone[block] as number) + value;
      count[block] = (count[block] as number) + 1;
    }
  }
  for (let block = 0; block < count.length; block++) {
    detail[block] = (detail[block] as number) / (count[block] as number);
    tone[block] = (tone[block] as number) / (count[block] as number);
  }
  return { detail, tone };
}

/** The frames of a video to use, and a sentence about them; an error if the focus does not move in it. */
export function sweepOf(
  file: string,
  described: readonly SweepFrame[],
  options: { count?: number | undefined } = {},
): { readonly frames: readonly number[]; readonly note: string } {
  const choice = chooseSweep(described, options);
  if (!choice) throw new DualFocusError("no-sweep", `${file}: the focus does not move in this video`, { facts: { file } });
  const { frames, moving } = choice;
  const used = `${baseName(file)}: ${frames.length} of ${described.length} frames are used, from frame ${frames[0]} to ${frames.at(-1)}`;
  return { frames, note: moving > 0 ? `${used}; something moves in ${moving}, which are left out` : used };
}

export interface SweepChoice {
  /** Indices of the chosen frames, in the order of the video. */
  readonly frames: readonly number[];
  /** Frames of the sweep that were passed over because something moved in them. */
  readonly moving: number;
}

/** Between two chosen frames the logarithm of a block's detail changes by this much on average: about what the planes of a good stack do. */
const STEP = 0.25;
const [FEWEST, MOST] = [5, 30];

/** Less change over the whole video than between three planes: the focus was not moved. */
const NO_SWEEP = 1;

/**
 * Frames that spread evenly over one sweep of the focus: each block's detail rises and falls as the focus passes it, and the sum of these
 * changes measures how far the focus has gone, however fast it went. Where the focus stands still nothing is chosen twice. Of a focus that
 * goes to and fro one way is taken. `count` asks for that many. Undefined if the focus does not move.
 */
export function chooseSweep(described: readonly SweepFrame[], { count }: { count?: number | undefined } = {}): SweepChoice | undefined {
  if (described.length < 2) return undefined;
  const focus = smoothed(described);
  const way = oneWay(focus, { from: 0, to: focus.length - 1 });
  const gone = distanceGone(focus, way);
  const whole = gone.at(-1) as number;
  if (whole < NO_SWEEP) return undefined;
  const wanted = Math.min(count ?? Math.min(Math.max(Math.round(whole / STEP) + 1, FEWEST), MOST), gone.length);
  const step = whole / (wanted - 1);
  const moved = movements(described.slice(way.from, way.to + 1));
  const isStill = stillFrames(moved);
  const chosen: number[] = [];
  for (let n = 0; n < wanted; n++) {
    const last = chosen.at(-1) ?? -1;
    const frame = nearest(gone, { target: n * step, within: step / 4, moved, isStill, after: last });
    const isFar = last < 0 || (gone[frame] as number) - (gone[last] as number) > step / 3;
    if (frame >= 0 && (count !== undefined || isFar)) chosen.push(frame);
  }
  return { frames: chosen.map((frame) => way.from + frame), moving: isStill.filter((still) => !still).length };
}

/** From one frame to another, both included. */
interface Way {
  readonly from: number;
  readonly to: number;
}

/** Logarithm of the detail, averaged over neighbouring frames of a long video; the noise of the video is added, so that plain walls count little. */
function smoothed(described: readonly SweepFrame[]): Float64Array[] {
  const all = Float64Array.from(described.flatMap(({ detail }) => [...detail])).sort();
  const floor = 4 * (all[Math.floor(0.05 * all.length)] ?? 0) + 1e-3;
  const logs = described.map(({ detail }) => detail.map((energy) => Math.log(energy + floor)));
  const reach = Math.min(3, Math.floor(described.length / 60));
  return logs.map((log, t) => {
    const near = logs.slice(Math.max(0, t - reach), t + reach + 1);
    return log.map((_, block) => near.reduce((sum, other) => sum + (other[block] as number), 0) / near.length);
  });
}

/** The shares of blocks that must come into focus twice for the focus to have turned. */
const TURNED = 0.15;

/** The longest way on which the focus does not turn. */
function oneWay(focus: readonly Float64Array[], way: Way): Way {
  const blocks = Array.from({ length: COLUMNS * ROWS }, (_, block) => peaksOf(focus, { ...way, block })).filter(({ length }) => length > 0);
  const twice = blocks.filter(({ length }) => length > 1);
  if (twice.length === 0 || twice.length < TURNED * blocks.length || way.to - way.from < 2 * FEWEST) return way;
  const turn = Math.round(median(twice.map(([first, second]) => ((first as number) + (second as number)) / 2)));
  if (turn <= way.from || turn >= way.to) return way;
  const [before, after] = [oneWay(focus, { from: way.from, to: turn }), oneWay(focus, { from: turn, to: way.to })];
  const length = (each: Way): number => distanceGone(focus, each).at(-1) as number;
  return length(after) > length(before) ? after : before;
}

/** How much a block's logarithm of detail must rise and fall for it to have come into focus. */
const PEAK = 0.8;

/** When a block is in focus: its maxima, between which it falls by half of its whole rise and by `PEAK`. */
function peaksOf(focus: readonly Float64Array[], { from, to, block }: Way & { block: number }): number[] {
  const at = (t: number): number => (focus[t] as Float64Array)[block] as number;
  let [lowest, highest] = [Infinity, -Infinity];
  for (let t = from; t <= to; t++) [lowest, highest] = [Math.min(lowest, at(t)), Math.max(highest, at(t))];
  const fall = Math.max(PEAK, (highest - lowest) / 2);
  const peaks: number[] = [];
  let [top, bottom] = [from, from];
  let isRising = true;
  for (let t = from; t <= to; t++) {
    if (isRising && at(t) > at(top)) top = t;
    if (!isRising && at(t) < at(bottom)) bottom = t;
    if (isRising && at(t) < at(top) - fall) {
      peaks.push(top);
      [bottom, isRising] = [t, false];
    } else if (!isRising && at(t) > at(bottom) + fall) [top, isRising] = [t, true];
  }
  return isRising && at(top) - lowest >= fall ? [...peaks, top] : peaks;
}

const difference = (a: Float64Array, b: Float64Array): number =>
  a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] as number)), 0) / a.length;

/** For each frame of the way, the sum of changes up to it, in steps long enough for the noise to be small, and without the noise. */
function distanceGone(focus: readonly Float64Array[], { from, to }: Way): number[] {
  const stride = Math.max(1, Math.floor((to - from) / 60));
  const noise = noiseOf(focus, { from, to, stride });
  const gone = [0];
  for (let t = from; t < to; t += stride) {
    const next = Math.min(t + stride, to);
    const change = Math.max(0, difference(focus[t] as Float64Array, focus[next] as Float64Array) - noise);
    const before = gone.at(-1) as number;
    for (let k = 1; k <= next - t; k++) gone.push(before + (change * k) / (next - t));
  }
  return gone;
}

/**
 * What noise alone changes from frame to frame: a steady sweep has no second difference, and noise has one that is √3 times as large. Where
 * frames are repeated, some do not differ at all.
 */
function noiseOf(focus: readonly Float64Array[], { from, to, stride }: Way & { stride: number }): number {
  const [firsts, seconds]: [number[], number[]] = [[], []];
  for (let t = from + stride; t + stride <= to; t++) {
    const [before, now, after] = [focus[t - stride], focus[t], focus[t + stride]] as [Float64Array, Float64Array, Float64Array];
    firsts.push(difference(before, now));
    seconds.push(now.reduce((sum, value, b) => sum + Math.abs((before[b] as number) - 2 * value + (after[b] as number)), 0) / now.length);
  }
  return firsts.length === 0 ? 0 : Math.min(quantile(firsts, 0.2), median(seconds) / Math.sqrt(3));
}

/** How much each frame's brightness differs from that of its neighbours, block by block: focus does not do that, moving things do. */
function movements(frames: readonly SweepFrame[]): number[] {
  const REACH = 8;
  return frames.map(({ tone }, t) => {
    const near = frames.slice(Math.max(0, t - REACH), t + REACH + 1);
    const sum = tone.reduce((total, value, block) => total + Math.abs(value - median(near.map((frame) => frame.tone[block] as number))), 0);
    return sum / tone.reduce((total, value) => total + value, 1e-6);
  });
}

/** Of the mean brightness: less is never motion. */
const STILL = 0.01;

function stillFrames(moved: readonly number[]): boolean[] {
  const limit = Math.max(STILL, 4 * median(moved));
  return moved.map((movement) => movement <= limit);
}

const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The value below which a share of them lies. */
const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(share * values.length)] as number;

interface Wanted {
  readonly target: number;
  readonly within: number;
  readonly moved: readonly number[];
  readonly isStill: readonly boolean[];
  readonly after: number;
}

/** The stillest frame close to the target; if none is close, the nearest still one; -1 if there is none left. */
function nearest(gone: readonly number[], { target, within, moved, isStill, after }: Wanted): number {
  const left = gone.map((_, t) => t).filter((t) => t > after);
  const still = left.filter((t) => isStill[t]);
  const close = still.filter((t) => Math.abs((gone[t] as number) - target) <= within);
  const away = (t: number): number => Math.abs((gone[t] as number) - target);
  const least = (list: readonly number[], cost: (t: number) => number): number =>
    list.reduce((a, b) => (a >= 0 && cost(a) <= cost(b) ? a : b), -1);
  return close.length > 0
    ? least(close, (t) => (moved[t] as number) + (STILL / 4) * (away(t) / within))
    : least(still.length > 0 ? still : left, away);
}
