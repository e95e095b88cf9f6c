import type { Figures, PaperTable, TrainRecipe } from "./paperTable.ts";

/** By name; a metric that is not defined is not finite, or not there. */
type Metrics = Readonly<Record<string, number>>;

/** What was measured of one network. */
export interface Measured {
  readonly metrics: Metrics;
}

/** The paper's columns by the metric's name; shares that it prints in percent. */
const COLUMNS: readonly { readonly column: string; readonly metric: string; readonly percent?: true }[] = [
  { column: "invalid trend %", metric: "invalidFocusTrend", percent: true },
  { column: "MSE", metric: "mse" },
  { column: "RMSE", metric: "rmse" },
  { column: "logRMSE", metric: "logRmse" },
  { column: "AbsRel", metric: "absRel" },
  { column: "SqRel", metric: "sqRel" },
  { column: "δ1", metric: "delta1" },
  { column: "δ2", metric: "delta2" },
  { column: "δ3", metric: "delta3" },
  { column: "Bump", metric: "bump" },
];

/** In the columns the paper's table has. */
export function inPaperColumns({ rows }: PaperTable, metrics: Metrics): Figures {
  const figures = COLUMNS.flatMap(({ column, metric, percent }) => {
    const value = metrics[metric];
    if (value === undefined || !Number.isFinite(value) || !rows.some(({ paper }) => column in paper)) return [];
    return [[column, percent ? 100 * value : value] as const];
  });
  return Object.fromEntries(figures);
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const spread = (values: readonly number[]): Figures =>
  values.length > 1 ? { "RMSE spread over seeds": Math.max(...values) - Math.min(...values) } : {};

/**
 * Means over the seeds of the validation metrics of training on rendered scenes: in planes, for each number of planes trained with. A plane
 * is 1 / (N − 1) of the stack's range, which makes errors of different N comparable.
 */
export function renderedFigures(runs: readonly Measured[], { planes }: TrainRecipe): Figures {
  const all = (name: string): number[] => runs.map(({ metrics }) => metrics[name] ?? NaN);
  const several = planes.length > 1;
  const at = (title: string, N: number): string => (several ? `${title}, N=${N}` : title);
  const figures = planes.flatMap((N): [string, number][] => [
    [at("RMSE planes", N), mean(all(`rmse@${N}`))],
    ...(several ? [] : [["RMSE % of range", (100 * mean(all(`rmse@${N}`))) / (N - 1)] as [string, number]]),
    [at("within ¼ plane %", N), 100 * mean(all(`within@${N}`))],
    [at("invalid trend %", N), 100 * mean(all(`invalidTrend@${N}`))],
  ]);
  return { ...Object.fromEntries(figures), ...spread(all(`rmse@${planes[0]}`)) };
}

/** Means over the seeds of what the protocol of a published set measures, in the columns of the paper's table. */
export function publishedFigures(table: PaperTable, runs: readonly Measured[]): Figures {
  const figures = runs.map(({ metrics }) => inPaperColumns(table, metrics));
  const all = (name: string): number[] => figures.map((each) => each[name] ?? NaN);
  const names = [...new Set(figures.flatMap((each) => Object.keys(each)))];
  return { ...Object.fromEntries(names.map((name) => [name, mean(all(name))])), ...spread(all("RMSE")) };
}
