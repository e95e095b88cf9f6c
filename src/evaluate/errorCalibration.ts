import { byCue, CUES, type Cue, type ErrorModel } from "../network/facts.ts";

/** Pixels of calibration stacks: what their error is read from, and how far off they were. */
export interface CalibrationPixels {
  readonly cues: Readonly<Record<Cue, Float32Array>>;
  /** |depth − truth| in planes. */
  readonly off: Float32Array;
  /** How much each pixel counts; any scale. */
  readonly weights: Float32Array;
}

/** Share of the errors that should lie within the claimed one. */
export const COVERAGE = 0.68;

/** Knots of the factors; in planes but for the evidence. */
const KNOTS: Readonly<Record<Cue, readonly number[]>> = {
  spread: [0.3, 0.5, 0.6, 0.7, 0.8, 1, 1.3, 2],
  unrest: [0, 0.03, 0.1, 0.2, 0.4, 0.8, 1.5],
  evidence: [0, 0.05, 0.2, 0.5, 0.8, 1],
  disagreement: [0, 0.25, 0.5, 1, 1.5, 2.5, 4],
};

/** Errors below this are not told apart. */
const LEAST = 0.005;

/** Steps of gradient descent, its longest step, and how strongly neighbouring knots are tied, which matters where there are few pixels. */
const [STEPS, RATE, TIE] = [500, 0.05, 1e-3];

/**
 * The error model that `COVERAGE` of the pixels stay within: quantile regression of log |error|. It minimises Σ w max(q r, (q − 1) r) of the residuals r
 * over the logarithms of the factors (Adam), and then sets the scale so that the share over all pixels is exact.
 */
export function fitErrorModel({ cues, off, weights }: CalibrationPixels): ErrorModel {
  const places = CUES.map((cue) => placesOf(cues[cue], KNOTS[cue]));
  const starts = CUES.map((_, c) => 1 + CUES.slice(0, c).reduce((sum, cue) => sum + KNOTS[cue].length, 0));
  const size = CUES.reduce((sum, cue) => sum + KNOTS[cue].length, 1);
  const target = off.map((value) => Math.log(Math.max(value, LEAST)));
  const total = weights.reduce((sum, value) => sum + value, 0);
  const theta = new Float64Array(size);
  theta[0] = weightedQuantile(target, weights, COVERAGE);
  const predict = (i: number): number => {
    let sum = theta[0] as number;
    places.forEach(({ knot, share }, c) => {
      const k = (starts[c] as number) + (knot[i] as number);
      sum += (theta[k] as number) * (1 - (share[i] as number)) + (theta[k + 1] as number) * (share[i] as number);
    });
    return sum;
  };
  const step = createAdam(theta);
  for (let t = 0; t < STEPS; t++) {
    const gradient = new Float64Array(size);
    for (let i = 0; i < target.length; i++) {
      const push = (((target[i] as number) > predict(i) ? -COVERAGE : 1 - COVERAGE) * (weights[i] as number)) / total;
      gradient[0] = (gradient[0] as number) + push;
      places.forEach(({ knot, share }, c) => {
        const k = (starts[c] as number) + (knot[i] as number);
        gradient[k] = (gradient[k] as number) + push * (1 - (share[i] as number));
        gradient[k + 1] = (gradient[k + 1] as number) + push * (share[i] as number);
      });
    }
    CUES.forEach((cue, c) => {
      for (let k = starts[c] as number; k < (starts[c] as number) + KNOTS[cue].length - 1; k++) {
        const pull = TIE * ((theta[k] as number) - (theta[k + 1] as number));
        gradient[k] = (gradient[k] as number) + pull;
        gradient[k + 1] = (gradient[k + 1] as number) - pull;
      }
    });
    step(gradient, RATE * (1 - t / STEPS) + 1e-3);
  }
  const residuals = target.map((value, i) => value - predict(i));
  return modelOf(theta, starts, theta[0] + weightedQuantile(residuals, weights, COVERAGE));
}

/** Each cue's factors are relative to their geometric mean over its knots. */
function modelOf(theta: Float64Array, starts: readonly number[], scale: number): ErrorModel {
  let exponent = scale;
  const rounded = (value: number): number => Number(value.toPrecision(3));
  const curves = byCue((cue) => {
    const start = starts[CUES.indexOf(cue)] as number;
    const logs = theta.slice(start, start + KNOTS[cue].length);
    const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
    exponent += mean;
    return { at: KNOTS[cue], factor: Array.from(logs, (value) => rounded(Math.exp(value - mean))) };
  });
  return { planes: rounded(Math.exp(exponent)), ...curves };
}

/** For each value the knot before it, and how far it lies on the way to the next. */
function placesOf(values: Float32Array, knots: readonly number[]): { knot: Uint8Array; share: Float32Array } {
  const knot = new Uint8Array(values.length);
  const share = values.map((value, i) => {
    let k = 0;
    while (k < knots.length - 2 && (knots[k + 1] as number) <= value) k++;
    knot[i] = k;
    const [from, to] = [knots[k] as number, knots[k + 1] as number];
    return Math.min(Math.max((value - from) / (to - from), 0), 1);
  });
  return { knot, share };
}

function createAdam(theta: Float64Array): (gradient: Float64Array, rate: number) => void {
  const [first, second] = [new Float64Array(theta.length), new Float64Array(theta.length)];
  let t = 0;
  return (gradient, rate) => {
    t += 1;
    for (let k = 0; k < theta.length; k++) {
      const g = gradient[k] as number;
      first[k] = 0.9 * (first[k] as number) + 0.1 * g;
      second[k] = 0.99 * (second[k] as number) + 0.01 * g * g;
      const step = (first[k] as number) / (1 - 0.9 ** t) / (Math.sqrt((second[k] as number) / (1 - 0.99 ** t)) + 1e-8);
      theta[k] = (theta[k] as number) - rate * step;
    }
  };
}

function weightedQuantile(values: Float32Array, weights: Float32Array, share: number): number {
  const order = Uint32Array.from({ length: values.length }, (_, i) => i).sort((i, j) => (values[i] as number) - (values[j] as number));
  const goal = share * weights.reduce((sum, value) => sum + value, 0);
  let sum = 0;
  for (const i of order) {
    sum += weights[i] as number;
    if (sum >= goal) return values[i] as number;
  }
  return values[order.at(-1) as number] as number;
}
