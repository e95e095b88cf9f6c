import type { ConfigName } from "../model/config.ts";
import { countMultiplyAccumulates, countParameters } from "../model/state.ts";
import { caseConfig, describeCase, stacksOf, type Case } from "./case.ts";
import { growthExponent, type Point } from "./growth.ts";
import type { BenchRuntime, StackSize, Work } from "./runtime.ts";
import { timeRuns, type Now } from "./timing.ts";

/** The machine's limits, measured through the same software. */
export interface Ceilings {
  /** Floating-point operations per second of the densest arithmetic. */
  readonly products: number;
  /** Bytes read and written per second by simple sums. */
  readonly copy: number;
}

export interface Measurement extends Case {
  readonly parameters: number;
  /** Of one stack. */
  readonly multiplyAccumulates: number;
  /** Seconds per run of `batch` stacks, from pixels to depth. */
  readonly median: number;
  readonly p90: number;
  readonly least: number;
  readonly stacksPerSecond: number;
  /** Floating-point operations per second, of those the runtime actually performs. */
  readonly rate: number;
  /** Shortest time that the machine's limits allow, in seconds, and its share of the median. */
  readonly limit: number;
  readonly ofLimit: number;
  /** Peak memory of loading and running, in bytes. */
  readonly peakMemory: number | undefined;
}

/** k in seconds ∝ xᵏ, for x the planes, the pixels and the side of the grid. */
export interface Growth {
  readonly model: ConfigName;
  readonly planes: number | undefined;
  readonly pixels: number | undefined;
  readonly grid: number | undefined;
}

export interface Bench {
  readonly device: string;
  readonly description: string;
  readonly ceilings: Ceilings;
  readonly rows: readonly Measurement[];
  readonly growth: readonly Growth[];
}

export interface BenchOptions {
  readonly repeats: number;
  readonly now: Now;
  readonly progress: (line: string) => void;
  /** Peak memory of loading and running a case, in bytes; undefined if unknown. */
  readonly memory: (each: Case) => Promise<number | undefined>;
}

/** Measures the machine's limits, then times every case one after the other. */
export async function bench(runtime: BenchRuntime, cases: readonly Case[], options: BenchOptions): Promise<Bench> {
  options.progress("bench: the machine's limits");
  const ceilings = {
    products: await rateOf(await runtime.products(), options),
    copy: await rateOf(await runtime.copy(), options),
  };
  const rows: Measurement[] = [];
  for (const [i, each] of cases.entries()) {
    options.progress(`bench: ${i + 1} of ${cases.length}, ${describeCase(each)}`);
    rows.push(await measureCase(runtime, each, { ...options, ceilings }));
  }
  const models = [...new Set(rows.map(({ model }) => model))];
  const growth = models.map((model) => growthOf(model, rows));
  return { device: runtime.device, description: runtime.description, ceilings, rows, growth };
}

const CEILING_REPEATS = 5;

/** The fastest run counts: disturbances only slow it down. */
async function rateOf(work: Work, { now }: BenchOptions): Promise<number> {
  try {
    const { least } = await timeRuns(() => work.run(), { repeats: CEILING_REPEATS, now });
    return work.amount / least;
  } finally {
    await work.dispose();
  }
}

async function measureCase(
  runtime: BenchRuntime,
  each: Case,
  options: BenchOptions & { readonly ceilings: Ceilings },
): Promise<Measurement> {
  const config = caseConfig(each);
  const session = await runtime.network(config, each);
  try {
    const inputs = stacksOf(each);
    const timing = await timeRuns(() => session.run(inputs), options);
    const [parameters, multiplyAccumulates] = [countParameters(config), countMultiplyAccumulates(config, each)];
    const done = runtime.planeByPlane ? countMultiplyAccumulates(config, each, { planeByPlane: true }) : multiplyAccumulates;
    const limit = limitSeconds({ ...each, parameters, multiplyAccumulates: done }, options.ceilings);
    return {
      ...each,
      parameters,
      multiplyAccumulates,
      ...timing,
      stacksPerSecond: each.batch / timing.median,
      rate: (2 * each.batch * done) / timing.median,
      limit,
      ofLimit: limit / timing.median,
      peakMemory: await options.memory(each),
    };
  } finally {
    await session.dispose();
  }
}

/** Multiply-accumulates at the rate of the densest arithmetic, or weights, images and outputs moved once, whichever takes longer. */
export function limitSeconds(
  { batch, planes, height, width, parameters, multiplyAccumulates }: Pick<Measurement, "parameters" | "multiplyAccumulates"> & StackSize,
  { products, copy }: Ceilings,
): number {
  const values = parameters + batch * height * width * (3 * planes + planes + 2); // images in; p, depth and spread out
  return Math.max((2 * batch * multiplyAccumulates) / products, (4 * values) / copy);
}

function growthOf(model: ConfigName, rows: readonly Measurement[]): Growth {
  const own = rows.filter((row) => row.model === model);
  const points = (x: (row: Measurement) => number, group: (row: Measurement) => string): Point[] =>
    own.map((row) => ({ x: x(row), seconds: row.median, group: group(row) }));
  const pixels = ({ height, width }: Measurement): number => height * width;
  const gridOf = (row: Measurement): number => {
    const config = caseConfig(row);
    return config.kind === "dualfocus" && typeof config.surface?.grid === "number" ? config.surface.grid : 1;
  };
  return {
    model,
    planes: growthExponent(points(({ planes }) => planes, (row) => `${row.batch} ${pixels(row)} ${gridOf(row)}`)), // prettier-ignore
    pixels: growthExponent(points(pixels, (row) => `${row.batch} ${row.planes} ${gridOf(row)}`)),
    grid: growthExponent(points(gridOf, (row) => `${row.batch} ${row.planes} ${pixels(row)}`)),
  };
}
