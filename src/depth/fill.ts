import type { DepthMap } from "../image/depthMap.ts";
import { between } from "../image/between.ts";
import type { Image, Size } from "../image/image.ts";
import type { DepthEstimate } from "./estimate.ts";
import { expectedPlanes, LEAST_ERROR } from "./maps.ts";

/** Where a depth is unfounded and restless by this many planes or more, its weight is multiplied by a factor: neighbours are then guesses that err alike. */
const [RESTLESS, GUESSED] = [0.9, 1e-5];

/** The weight of depth that not every frame covers. */
const UNCOVERED = 1e-8;

/** Depth that is unfounded by more than this is marked as filled. */
const MARKED = 0.5;

/** Errors are taken as at most this many planes: where depth is founded, a large error does not mean that its neighbours are better. */
const MOST_ERROR = 1;

export interface FilledDepth {
  readonly depth: DepthMap;
  /** 1 where the images show too little to measure, so that more than half of the depth was carried in from around; 0 elsewhere, and where not every frame covers the image. */
  readonly filled: Uint8Array;
}

/** What is marked as beyond the planes in finished depth: what is filled in is no longer the depth of an end. */
export const beyondUnfilled = (beyond: Int8Array, finished: Pick<FilledDepth, "filled"> | undefined): Int8Array =>
  finished ? beyond.map((side, i) => (finished.filled[i] ? 0 : side)) : beyond;

/**
 * Areas where depth is unfounded (plain walls, sky, clipped lights) become smooth and continue what was measured around them. With the share u by which a depth d is unfounded,
 * and the surface z through all of them, each weighed by its expected error e in planes as 1/e², it becomes u z + (1 − u) d: founded depth is untouched.
 * The map is even (`evenDepth`): a plane in space stays a plane. `covered` is 0 where a frame was moved out of the image.
 */
export function fillDepth(source: FillSource, covered?: Uint8Array): FilledDepth {
  const { depth, confidence, unfounded, unrest } = source;
  const pixels = unfounded.length;
  const filled = new Uint8Array(pixels);
  const [share, weights] = [new Float32Array(pixels), new Float32Array(pixels)] as const;
  let isFounded = true;
  for (let i = 0; i < pixels; i++) {
    const u = unfounded[i] as number;
    const isCovered = !covered || covered[i] !== 0;
    const error = Math.min(Math.max(expectedPlanes(confidence[i] as number), LEAST_ERROR), MOST_ERROR);
    share[i] = isCovered ? u : 1;
    filled[i] = isCovered && u > MARKED ? 1 : 0;
    weights[i] = isCovered ? trust(u, unrest[i] as number) / error ** 2 : UNCOVERED;
    isFounded &&= share[i] === 0;
  }
  const { width, height, values } = depth;
  const [least, most] = rangeOf(values, covered);
  if (isFounded || least > most) return { depth, filled }; // there is nothing to fill, or nothing to fill it from
  const surface = fillSurface({ width, height, values, weights, guide: source.allInFocus });
  for (let i = 0; i < pixels; i++) {
    const u = share[i] as number;
    const carried = Math.min(Math.max(surface[i] as number, least), most); // a slope must not lead on beyond all that there is
    surface[i] = u === 1 ? carried : u * carried + (1 - u) * (values[i] as number);
  }
  return { depth: { ...depth, values: surface }, filled };
}

/** The factor on the weight of a depth that is unfounded by u. */
const trust = (u: number, unrest: number): number => (u === 0 ? 1 : GUESSED ** (u * Math.min(unrest / RESTLESS, 1)));

type FillSource = Pick<DepthEstimate, "depth" | "confidence" | "unfounded" | "unrest" | "allInFocus">;

function rangeOf(values: Float32Array, covered: Uint8Array | undefined): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (covered?.[i] === 0) continue;
    if (value < least) least = value; // NaN is neither
    if (value > most) most = value;
  }
  return [least, most];
}

/** What is to be filled: values with the weight of each, and the image whose edges they follow. */
export interface FillRequest extends Size {
  readonly values: Float32Array;
  /** How far each value is to be trusted; 0 or more. */
  readonly weights: Float32Array;
  readonly guide: Image;
}

/** Values of weight 1 bend the surface over this share of the shorter side: more than the blotches of a network's guesses on a wall, less than the wall. */
const REACH = 0.08;

/** Where nothing is known the surface is drawn level, over so many times that length: a slope goes on for a while, not for ever. */
const LEVEL = 10;

/** Difference of colour, of 1, at which the surface is half as stiff, and the least stiffness against slopes, so that every pixel is reached from somewhere. */
const [EDGE, LEAST_STIFFNESS] = [0.01, 1e-5];

/** Levels of the pyramid end at this side. The surface is solved in up to so many pixels; it is smooth, and enlarged to more: solving a million gave the same errors in four times the time. */
const [COARSEST, MOST_PIXELS] = [24, 1e5];

/** Steps of conjugate gradients on the coarsest level, and on each finer one, which starts from the solution of the one before; most pixels of all steps on the coarsest, which is long in panoramas. */
const [STEPS, MOST_WORK] = [{ coarsest: 2000, finer: 12 }, 1e7] as const;

/**
 * The surface z that minimises
 *
 *     Σ w (z − d)² + ℓ⁴ Σ c (z_xx² + z_yy² + 2 z_xy²) + (ℓ/10)² Σ s (z_x² + z_y²),
 *
 * a thin plate held by the values d with their weights w. Planes cost next to nothing, whatever their slope; it breaks at the image's edges, where the stiffness c or s is small.
 */
export function fillSurface(request: FillRequest): Float32Array {
  const reach = REACH * Math.min(request.width, request.height);
  const pyramid: Level[] = [{ ...known(request), spacing: 1 }];
  while (Math.min((pyramid[0] as Level).width, (pyramid[0] as Level).height) >= 2 * COARSEST) pyramid.unshift(halved(pyramid[0] as Level));
  const solved = pyramid.filter(({ width, height }, k) => k === 0 || width * height <= MOST_PIXELS);
  let surface: Float32Array | undefined;
  solved.forEach((level, k) => {
    const start = surface ? enlarged(surface, { from: solved[k - 1] as Level, to: level }) : weightedMean(level);
    surface = conjugateGradients(plateOf(level, reach), level, {
      start,
      steps: k === 0 ? Math.min(STEPS.coarsest, Math.ceil(MOST_WORK / level.values.length)) : STEPS.finer,
    });
  });
  // What is left of the pyramid is not solved.
  const finest = pyramid.indexOf(solved.at(-1) as Level);
  for (let k = finest + 1; k < pyramid.length; k++)
    surface = enlarged(surface as Float32Array, { from: pyramid[k - 1] as Level, to: pyramid[k] as Level });
  return surface as Float32Array;
}

/** Values that are not numbers count nothing. */
function known({ values, weights, ...rest }: FillRequest): FillRequest {
  const isKnown = (i: number): boolean => Number.isFinite(values[i]);
  return {
    ...rest,
    values: values.map((value, i) => (isKnown(i) ? value : 0)),
    weights: weights.map((weight, i) => (isKnown(i) ? weight : 0)),
  };
}

interface Level extends FillRequest {
  /** Pixels of the request from one to the next. */
  readonly spacing: number;
}

/** Half the size: weights are added up, colours averaged, values averaged by their weights. */
function halved({ width: w, height: h, values, weights, guide, spacing }: Level): Level {
  const [width, height] = [Math.ceil(w / 2), Math.ceil(h / 2)];
  const { channels } = guide;
  const small = { values: new Float32Array(width * height), weights: new Float32Array(width * height) };
  const data = new Float32Array(width * height * channels);
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) {
      let count = 0;
      let weight = 0;
      let sum = 0;
      let plain = 0;
      const bottom = Math.min(2 * y + 2, h);
      const end = Math.min(2 * x + 2, w);
      for (let v = 2 * y; v < bottom; v++)
        for (let u = 2 * x; u < end; u++) {
          const j = v * w + u;
          count += 1;
          weight += weights[j] as number;
          sum += (weights[j] as number) * (values[j] as number);
          plain += values[j] as number;
          for (let c = 0; c < channels; c++)
            data[i * channels + c] = (data[i * channels + c] as number) + (guide.data[j * channels + c] as number);
        }
      for (let c = 0; c < channels; c++) data[i * channels + c] = (data[i * channels + c] as number) / count;
      small.values[i] = weight > 0 ? sum / weight : plain / count;
      small.weights[i] = weight;
    }
  return { width, height, ...small, guide: { width, height, channels, data }, spacing: 2 * spacing };
}

/** A map of one level at the next one: bilinear, but from cells of the pixel's own colour, so that the image's edges stay edges. */
function enlarged(values: Float32Array, { from, to }: { readonly from: Level; readonly to: Level }): Float32Array {
  const out = new Float32Array(to.width * to.height);
  const across = between({ from: from.width, to: 2 * from.width, count: to.width }); // a cell is two pixels, of which the last may lack one
  const down = between({ from: from.height, to: 2 * from.height, count: to.height });
  const { channels } = to.guide;
  const likeness = (i: number, j: number): number => {
    let square = 0;
    for (let c = 0; c < channels; c++)
      square += ((to.guide.data[i * channels + c] as number) - (from.guide.data[j * channels + c] as number)) ** 2;
    return sameness(square / channels) + LEAST_STIFFNESS;
  };
  for (let y = 0, i = 0; y < to.height; y++) {
    const row = (down.lower[y] as number) * from.width;
    const rows = [row, row + down.next * from.width] as const;
    const v = down.share[y] as number;
    for (let x = 0; x < to.width; x++, i++) {
      const column = across.lower[x] as number;
      const u = across.share[x] as number;
      let [sum, total] = [0, 0];
      for (let k = 0; k < 4; k++) {
        const j = (rows[k >> 1] as number) + column + (k & 1) * across.next;
        const weight = (k & 1 ? u : 1 - u) * (k >> 1 ? v : 1 - v) * likeness(i, j);
        sum += weight * (values[j] as number);
        total += weight;
      }
      out[i] = sum / total;
    }
  }
  return out;
}

function weightedMean({ values, weights }: Level): Float32Array {
  let [sum, total] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    sum += (weights[i] as number) * (values[i] as number);
    total += weights[i] as number;
  }
  return new Float32Array(values.length).fill(total > 0 ? sum / total : 0);
}

/** Σ_i k_i (Σ_j a_j z_{i + o_j})²: one kind of difference, with its taps a at offsets o, and its factor at every pixel; 0 where it would leave the image. */
interface Differences {
  readonly offsets: readonly number[];
  readonly taps: readonly number[];
  readonly factors: Float32Array;
}

/** What bends and slopes cost on a level: at a spacing h the sums of squares of z_xx stand for 1/h² times as much, those of z_x for as much as they are. */
function plateOf({ width, height, guide, spacing }: Level, reach: number): readonly Differences[] {
  const bending = reach ** 4 / spacing ** 2;
  const slope = (reach / LEVEL) ** 2;
  const [right, down] = [stiffness(guide, 1), stiffness(guide, width)];
  const factors = (factor: number, of: (i: number, x: number, y: number) => number): Float32Array => {
    const out = new Float32Array(width * height);
    for (let y = 0, i = 0; y < height; y++) for (let x = 0; x < width; x++, i++) out[i] = factor * of(i, x, y);
    return out;
  };
  const least = (stiff: Float32Array, i: number, j: number): number => Math.min(stiff[i] as number, stiff[j] as number);
  const [lastX, lastY] = [width - 1, height - 1];
  return [
    { offsets: [0, 1], taps: [1, -1], factors: factors(slope, (i, x) => (x < lastX ? Math.max(right[i] as number, LEAST_STIFFNESS) : 0)) },
    {
      offsets: [0, width],
      taps: [1, -1],
      factors: factors(slope, (i, _, y) => (y < lastY ? Math.max(down[i] as number, LEAST_STIFFNESS) : 0)),
    },
    { offsets: [-1, 0, 1], taps: [1, -2, 1], factors: factors(bending, (i, x) => (x > 0 && x < lastX ? least(right, i - 1, i) : 0)) },
    {
      offsets: [-width, 0, width],
      taps: [1, -2, 1],
      factors: factors(bending, (i, _, y) => (y > 0 && y < lastY ? least(down, i - width, i) : 0)),
    },
    {
      offsets: [0, 1, width, width + 1],
      taps: [1, -1, -1, 1],
      factors: factors(2 * bending, (i, x, y) =>
        x < lastX && y < lastY ? Math.min(least(right, i, i + width), least(down, i, i + 1)) : 0,
      ),
    },
  ];
}

/** How stiff the surface is between each pixel and the one `offset` further: 1 where their colours are equal. */
function stiffness({ channels, data }: Image, offset: number): Float32Array {
  const out = new Float32Array(data.length / channels);
  for (let i = 0; i + offset < out.length; i++) {
    let square = 0;
    for (let c = 0; c < channels; c++) square += ((data[i * channels + c] as number) - (data[(i + offset) * channels + c] as number)) ** 2;
    out[i] = sameness(square / channels);
  }
  return out;
}

/** Falls from 1 for a mean square difference of colours. */
const sameness = (square: number): number => 1 / (1 + (square / EDGE ** 2) ** 2);

/** Solves (W + Σ AᵀKA) z = W d from a first guess; Jacobi-preconditioned. In double precision, since a plate of ℓ⁴ would round small weights away. */
function conjugateGradients(
  plate: readonly Differences[],
  { values, weights }: Level,
  { start, steps }: { readonly start: Float32Array; readonly steps: number },
): Float32Array {
  const n = values.length;
  const z = Float64Array.from(start);
  const diagonal = diagonalOf(plate, weights);
  const [r, p, q] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
  multiply(plate, weights, z, q);
  let rho = 0;
  for (let i = 0; i < n; i++) {
    const residual = (weights[i] as number) * (values[i] as number) - (q[i] as number);
    r[i] = residual;
    p[i] = residual / (diagonal[i] as number);
    rho += residual * (p[i] as number);
  }
  const enough = rho * 1e-10;
  for (let step = 0; step < steps && rho > enough; step++) {
    multiply(plate, weights, p, q);
    let curvature = 0;
    for (let i = 0; i < n; i++) curvature += (p[i] as number) * (q[i] as number);
    const alpha = rho / curvature;
    let next = 0;
    for (let i = 0; i < n; i++) {
      z[i] = (z[i] as number) + alpha * (p[i] as number);
      const residual = (r[i] as number) - alpha * (q[i] as number);
      r[i] = residual;
      next += (residual * residual) / (diagonal[i] as number);
    }
    const beta = next / rho;
    rho = next;
    for (let i = 0; i < n; i++) p[i] = (r[i] as number) / (diagonal[i] as number) + beta * (p[i] as number);
  }
  return Float32Array.from(z);
}

function diagonalOf(plate: readonly Differences[], weights: Float32Array): Float64Array {
  const diagonal = Float64Array.from(weights);
  for (const { offsets, taps, factors } of plate)
    offsets.forEach((offset, j) => {
      const square = (taps[j] as number) ** 2;
      for (let i = 0; i < factors.length; i++)
        if (factors[i] !== 0) diagonal[i + offset] = (diagonal[i + offset] as number) + square * (factors[i] as number);
    });
  return diagonal;
}

/** into = (W + Σ AᵀKA) z. */
function multiply(plate: readonly Differences[], weights: Float32Array, z: Float64Array, into: Float64Array): void {
  for (let i = 0; i < z.length; i++) into[i] = (weights[i] as number) * (z[i] as number);
  for (const { offsets, taps, factors } of plate)
    for (let i = 0; i < factors.length; i++) {
      const factor = factors[i] as number;
      if (factor === 0) continue;
      let difference = 0;
      for (let j = 0; j < taps.length; j++) difference += (taps[j] as number) * (z[i + (offsets[j] as number)] as number);
      for (let j = 0; j < taps.length; j++) {
        const at = i + (offsets[j] as number);
        into[at] = (into[at] as number) + factor * difference * (taps[j] as number);
      }
    }
}
