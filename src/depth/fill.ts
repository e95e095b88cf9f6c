import type { DepthMap } from "../image/depthMap.ts";
import type { Image, Size } from "../image/image.ts";
import { enlarge } from "../image/upsample.ts";
import type { DepthEstimate } from "./estimate.ts";
import { expectedPlanes } from "./maps.ts";

/** Two pixels of equal colour are expected to differ by this many planes: it sets the weight of a measured depth against 1 for their smoothness. */
const STEP = 0.3;

/**
 * Where depth is unfounded its weight is multiplied by a factor: down to the first where it is calm, since a network sees more than our evidence does, and down to
 * the second where it is restless by this many planes or more: neighbours are then guesses that err alike, and nearly all has to come from around.
 */
const [CALM, GUESSED, RESTLESS] = [0.3, 1e-5, 0.9];

/** The weight of depth that not every frame covers. */
const UNCOVERED = 1e-8;

/** Depth that is unfounded by more than this is marked as filled. */
const MARKED = 0.5;

/** Errors are taken as at least and at most this many planes: where depth is founded, a large error does not mean that its neighbours are better. */
const [LEAST_ERROR, MOST_ERROR] = [0.03, 1];

export interface FilledDepth {
  readonly depth: DepthMap;
  /** 1 where the images show too little to measure, so that more than half of the depth was carried in from around; 0 elsewhere, and where not every frame covers the image. */
  readonly filled: Uint8Array;
}

/**
 * Depth carried from where it was measured into areas where it is unfounded: plain walls, sky, clipped lights. With the share u by which a depth d is unfounded, and the
 * surface z through all of them, each weighed by its expected error e as (0.3 planes / e)², it becomes u z + (1 − u) d: founded depth is untouched.
 * Metres are carried on in dioptres, as blur is measured. `covered` is 0 where a frame was moved out of the image.
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
    weights[i] = isCovered ? (STEP / error) ** 2 * (u === 0 ? 1 : trust(u, unrest[i] as number)) : UNCOVERED;
    isFounded &&= share[i] === 0;
  }
  if (isFounded) return { depth, filled };
  const { width, height } = depth;
  const isMetric = depth.space === "depth";
  const even = isMetric ? reciprocals(depth.values) : depth.values;
  const surface = fillSurface({ width, height, values: even, weights, guide: source.allInFocus });
  for (let i = 0; i < pixels; i++) {
    const u = share[i] as number;
    if (u < 1) surface[i] = u * (surface[i] as number) + (1 - u) * (even[i] as number);
  }
  const values = isMetric ? reciprocals(surface) : surface;
  for (let i = 0; i < pixels; i++) if (share[i] === 0) values[i] = depth.values[i] as number; // untouched
  return { depth: { ...depth, values }, filled };
}

/** The factor on the weight of a depth that is unfounded by u. */
function trust(u: number, unrest: number): number {
  const restless = Math.min(unrest / RESTLESS, 1);
  return Math.exp(u * ((1 - restless) * Math.log(CALM) + restless * Math.log(GUESSED)));
}

function reciprocals(values: Float32Array): Float32Array {
  const out = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = 1 / (values[i] as number);
  return out;
}

type FillSource = Pick<DepthEstimate, "depth" | "confidence" | "unfounded" | "unrest" | "allInFocus">;

/** What is to be filled: values with the weight of each, and the image whose edges they follow. */
export interface FillRequest extends Size {
  readonly values: Float32Array;
  /** How far each value is to be trusted, against 1 for the smoothness between two pixels of equal colour; 0 or more. */
  readonly weights: Float32Array;
  readonly guide: Image;
}

/** Difference of colour, of 1, at which smoothness falls to a half. */
const EDGE = 0.02;

/** Least smoothness, so that every pixel is reached from somewhere. */
const LEAST_SMOOTHNESS = 1e-3;

/** Levels of the pyramid end at this side. */
const COARSEST = 24;

/** Steps of conjugate gradients on the coarsest level, and on each finer one, which starts from the solution of the one before. */
const STEPS = { coarsest: 200, finer: 12 } as const;

/**
 * The surface z that minimises Σ w_i (z_i − d_i)² + Σ s_ij (z_i − z_j)² over pixels and pairs of neighbours: where a value is trusted it stays,
 * elsewhere it is carried in from trusted ones, along the image's areas of one colour and not across its edges.
 */
export function fillSurface(request: FillRequest): Float32Array {
  const pyramid = [level(known(request))];
  while (Math.min((pyramid[0] as Level).width, (pyramid[0] as Level).height) >= 2 * COARSEST) pyramid.unshift(halved(pyramid[0] as Level));
  let solution: Float32Array | undefined;
  pyramid.forEach((at, k) => {
    const start = solution ? enlarge({ ...(pyramid[k - 1] as Level), values: solution }, at) : weightedMean(at);
    solution = conjugateGradients(at, start, k === 0 ? STEPS.coarsest : STEPS.finer);
  });
  return solution as Float32Array;
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

interface Level extends Size {
  readonly values: Float32Array;
  readonly weights: Float32Array;
  readonly guide: Image;
  /** s between a pixel and the one to its right, and the one below. */
  readonly right: Float32Array;
  readonly down: Float32Array;
}

function level({ width, height, values, weights, guide }: FillRequest): Level {
  const [right, down] = [new Float32Array(width * height), new Float32Array(width * height)];
  const { channels, data } = guide;
  const smoothness = (i: number, j: number): number => {
    let square = 0;
    for (let c = 0; c < channels; c++) square += ((data[i * channels + c] as number) - (data[j * channels + c] as number)) ** 2;
    return Math.max(1 / (1 + square / channels / EDGE ** 2), LEAST_SMOOTHNESS);
  };
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) {
      if (x + 1 < width) right[i] = smoothness(i, i + 1);
      if (y + 1 < height) down[i] = smoothness(i, i + width);
    }
  return { width, height, values, weights, guide, right, down };
}

/** Half the size: weights and colours are averaged, values by their weights. */
function halved({ width: w, height: h, values, weights, guide }: Level): Level {
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
      small.weights[i] = weight; // the sum: two rows of pairs over twice the distance are as stiff as one pair
    }
  return level({ width, height, ...small, guide: { width, height, channels, data } });
}

function weightedMean({ values, weights }: Level): Float32Array {
  let [sum, total] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    sum += (weights[i] as number) * (values[i] as number);
    total += weights[i] as number;
  }
  return new Float32Array(values.length).fill(total > 0 ? sum / total : 0);
}

/** Solves (W + L) z = W d from a first guess; Jacobi-preconditioned. */
function conjugateGradients(at: Level, z: Float32Array, steps: number): Float32Array {
  const { values, weights } = at;
  const n = values.length;
  const diagonal = diagonalOf(at);
  const [r, p, q] = [new Float32Array(n), new Float32Array(n), new Float32Array(n)];
  multiply(at, diagonal, z, q);
  let rho = 0;
  for (let i = 0; i < n; i++) {
    const residual = (weights[i] as number) * (values[i] as number) - (q[i] as number);
    r[i] = residual;
    p[i] = residual / (diagonal[i] as number);
    rho += residual * (p[i] as number);
  }
  const enough = rho * 1e-8;
  for (let step = 0; step < steps && rho > enough; step++) {
    multiply(at, diagonal, p, q);
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
  return z;
}

/** In double precision: beside smoothness a small weight would be rounded away, and a plane would not stay a plane. */
function diagonalOf({ width, weights, right, down }: Level): Float64Array {
  const diagonal = Float64Array.from(weights);
  for (let i = 0; i < diagonal.length; i++) {
    const left = i > 0 ? (right[i - 1] as number) : 0; // 0 behind the end of a row
    const up = i >= width ? (down[i - width] as number) : 0;
    diagonal[i] = (diagonal[i] as number) + (right[i] as number) + (down[i] as number) + left + up;
  }
  return diagonal;
}

/** into = (W + L) z. `right` and `down` are 0 where there is no neighbour. */
function multiply({ width, right, down }: Level, diagonal: Float64Array, z: Float32Array, into: Float32Array): void {
  const n = z.length;
  for (let i = 0; i < n; i++) {
    let sum = (diagonal[i] as number) * (z[i] as number);
    if (i + 1 < n) sum -= (right[i] as number) * (z[i + 1] as number);
    if (i > 0) sum -= (right[i - 1] as number) * (z[i - 1] as number);
    if (i + width < n) sum -= (down[i] as number) * (z[i + width] as number);
    if (i >= width) sum -= (down[i - width] as number) * (z[i - width] as number);
    into[i] = sum;
  }
}
