import {
  byCue,
  CUES,
  expectedErrors,
  NO_FACTOR,
  stackDoubt,
  stackFactors,
  type Cue,
  type ErrorModel,
  type StackCues,
} from "../network/facts.ts";

/** Pixels of calibration stacks, those of a stack one after another: what their error is read from, and how far off they were. */
export interface CalibrationPixels {
  readonly cues: Readonly<Record<Cue, Float32Array>>;
  /** How many pixels each stack has here, its number of planes, and their mismatch. */
  readonly stacks: readonly { readonly pixels: number; readonly planes: number; readonly mismatch: number }[];
  /** |depth − truth| in planes. */
  readonly off: Float32Array;
  /** How much each pixel counts, on any scale; 0 where the truth is unknown. Such pixels count towards the median of their stack. */
  readonly weights: Float32Array;
}

/** Share of the errors that should lie within the claimed one. */
export const COVERAGE = 0.68;

/** Knots of the factors; in planes but for evidence and its means. */
const KNOTS: Readonly<Record<Cue, readonly number[]>> = {
  spread: [0.3, 0.5, 0.6, 0.7, 0.8, 1, 1.3, 2],
  tail: [0.05, 0.15, 0.25, 0.32, 0.36, 0.4, 0.45, 0.55],
  unrest: [0, 0.03, 0.1, 0.2, 0.4, 0.8, 1.5],
  ripple: [0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8],
  evidence: [0, 0.05, 0.2, 0.5, 0.8, 1],
  surroundings: [0, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9],
  region: [0, 0.01, 0.03, 0.1, 0.3, 0.6],
  enclosure: [0, 0.01, 0.03, 0.1, 0.3, 0.6],
  disagreement: [0, 0.25, 0.5, 1, 1.5, 2.5, 4],
};
const STACK_KNOTS = { doubt: [0.1, 0.2, 0.4, 0.7], mismatch: [0.001, 0.005, 0.02, 0.1, 0.4] } as const;

/** Errors below this are not told apart. */
const LEAST = 0.005;

/**
 * The error model that `COVERAGE` of the pixels stay within: first the factors of the cues, then those of the stack, by the medians that follow from them and by its mismatch. Fitted
 * together, the stack would take over what the cues say, and leave no medians to tell stacks apart by.
 */
export function fitErrorModel(pixels: CalibrationPixels): ErrorModel {
  const { cues, off, weights } = pixels;
  const target = off.map((value) => Math.log(Math.max(value, LEAST)));
  const columns = CUES.map((cue) => ({ values: cues[cue], knots: KNOTS[cue] }));
  const model = modelOf(regress({ columns, target, weights }));
  const own = expectedErrors(model, pixels.cues); // without the factors of the stack
  const rest = target.map((value, i) => value - Math.log(own[i] as number));
  const { doubt, mismatch } = stackCues(own, pixels);
  const ofStack = [
    { values: doubt, knots: STACK_KNOTS.doubt },
    { values: mismatch, knots: STACK_KNOTS.mismatch },
  ];
  const { scale, curves } = regress({ columns: ofStack, target: rest, weights });
  const [byDoubt, byMismatch] = curves as [Float64Array, Float64Array];
  const mean = meanOf(byMismatch);
  return {
    ...model,
    stack: { at: STACK_KNOTS.doubt, factor: Array.from(byDoubt, (value) => rounded(Math.exp(scale + mean + value))) },
    mismatch: { at: STACK_KNOTS.mismatch, factor: Array.from(byMismatch, (value) => rounded(Math.exp(value - mean))) },
  };
}

/** The errors that the model claims of all pixels. */
export function claimedErrors(model: ErrorModel, pixels: Omit<CalibrationPixels, "off" | "weights">): Float32Array {
  const own = expectedErrors(model, pixels.cues); // without the factors of the stack
  const factors = stackFactors(model, stackCues(own, pixels));
  return own.map((value, i) => value * (factors[i] as number));
}

/** For each pixel how doubtful its stack is, and the mismatch of its planes. */
function stackCues(errors: Float32Array, { stacks }: Pick<CalibrationPixels, "stacks">): StackCues<Float32Array> {
  const [doubt, mismatch] = [new Float32Array(errors.length), new Float32Array(errors.length)];
  let start = 0;
  for (const { pixels, planes, ...own } of stacks) {
    doubt.fill(stackDoubt(errors.subarray(start, start + pixels), planes), start, start + pixels);
    mismatch.fill(own.mismatch, start, start + pixels);
    start += pixels;
  }
  return { doubt, mismatch };
}

const meanOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const rounded = (value: number): number => Number(value.toPrecision(3));

/** Each cue's factors are relative to their geometric mean over its knots. */
function modelOf({ scale, curves }: Regression): ErrorModel {
  let exponent = scale;
  const factors = byCue((cue) => {
    const logs = curves[CUES.indexOf(cue)] as Float64Array;
    const mean = meanOf(logs);
    exponent += mean;
    return { at: KNOTS[cue], factor: Array.from(logs, (value) => rounded(Math.exp(value - mean))) };
  });
  return { planes: rounded(Math.exp(exponent)), ...factors, stack: NO_FACTOR, mismatch: NO_FACTOR };
}

/** Something that the target depends on, and where the curve of that dependence has its knots. */
interface Column {
  readonly values: Float32Array;
  readonly knots: readonly number[];
}

/** The target is expected to be the scale plus one curve for each column, given at its knots. */
interface Regression {
  readonly scale: number;
  readonly curves: readonly Float64Array[];
}

/** Steps of gradient descent, its longest step, and how strongly neighbouring knots are tied, which matters where there are few pixels. */
const [STEPS, RATE, TIE] = [400, 0.05, 1e-3];

/**
 * Quantile regression: minimises Σ w max(q r, (q − 1) r) of the residuals r over the curves (Adam), and then sets the scale so that the share `COVERAGE` of
 * negative residuals is exact.
 */
function regress({ columns, target, weights }: { columns: readonly Column[]; target: Float32Array; weights: Float32Array }): Regression {
  const starts = columns.map((_, c) => 1 + columns.slice(0, c).reduce((sum, { knots }) => sum + knots.length, 0));
  const places = placesOf(columns, starts);
  const total = weights.reduce((sum, value) => sum + value, 0);
  const theta = new Float64Array(columns.reduce((sum, { knots }) => sum + knots.length, 1));
  theta[0] = weightedQuantile(target, weights, COVERAGE);
  const [predicted, push] = [new Float32Array(target.length), new Float32Array(target.length)];
  const step = createAdam(theta);
  for (let t = 0; t < STEPS; t++) {
    predict(theta, places, predicted);
    const gradient = new Float64Array(theta.length);
    for (let i = 0; i < target.length; i++)
      push[i] = (((target[i] as number) > (predicted[i] as number) ? -COVERAGE : 1 - COVERAGE) * (weights[i] as number)) / total;
    collect(push, places, gradient);
    columns.forEach(({ knots }, c) => {
      for (let k = starts[c] as number; k < (starts[c] as number) + knots.length - 1; k++) {
        const pull = TIE * ((theta[k] as number) - (theta[k + 1] as number));
        gradient[k] = (gradient[k] as number) + pull;
        gradient[k + 1] = (gradient[k + 1] as number) - pull;
      }
    });
    step(gradient, RATE * (1 - t / STEPS) + 1e-3);
  }
  predict(theta, places, predicted);
  const residuals = target.map((value, i) => value - (predicted[i] as number));
  return {
    scale: theta[0] + weightedQuantile(residuals, weights, COVERAGE),
    curves: columns.map(({ knots }, c) => theta.slice(starts[c], (starts[c] as number) + knots.length)),
  };
}

/** For each pixel and column, one after another: the parameter of the knot before its value, and how far it lies on the way to the next. */
interface Places {
  readonly columns: number;
  readonly knot: Uint16Array;
  readonly share: Float32Array;
}

function placesOf(columns: readonly Column[], starts: readonly number[]): Places {
  const size = columns.length * (columns[0] as Column).values.length;
  const [knot, share] = [new Uint16Array(size), new Float32Array(size)];
  columns.forEach(({ values, knots }, c) => {
    values.forEach((value, i) => {
      let k = 0;
      while (k < knots.length - 2 && (knots[k + 1] as number) <= value) k++;
      const [from, to] = [knots[k] as number, knots[k + 1] as number];
      knot[i * columns.length + c] = (starts[c] as number) + k;
      share[i * columns.length + c] = Math.min(Math.max((value - from) / (to - from), 0), 1);
    });
  });
  return { columns: columns.length, knot, share };
}

/** into = what is expected of each pixel. */
function predict(theta: Float64Array, { columns, knot, share }: Places, into: Float32Array): void {
  for (let i = 0, at = 0; i < into.length; i++) {
    let sum = theta[0] as number;
    for (const end = at + columns; at < end; at++) {
      const k = knot[at] as number;
      const s = share[at] as number;
      sum += (theta[k] as number) * (1 - s) + (theta[k + 1] as number) * s;
    }
    into[i] = sum;
  }
}

/** The transpose of `predict`: adds what each pixel pushes to the parameters it is predicted from. */
function collect(push: Float32Array, { columns, knot, share }: Places, gradient: Float64Array): void {
  for (let i = 0, at = 0; i < push.length; i++) {
    const value = push[i] as number;
    gradient[0] = (gradient[0] as number) + value;
    for (const end = at + columns; at < end; at++) {
      const k = knot[at] as number;
      const s = share[at] as number;
      gradient[k] = (gradient[k] as number) + value * (1 - s);
      gradient[k + 1] = (gradient[k + 1] as number) + value * s;
    }
  }
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
