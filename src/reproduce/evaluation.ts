import { z } from "zod";

import type { Figures, PaperTable } from "./paperTable.ts";

const entry = z.object({
  model: z.string(),
  split: z.string(),
  images: z.number(),
  metrics: z.record(z.string(), z.number().nullable()),
});

/** One model on one set. */
export type EvaluationEntry = z.infer<typeof entry>;

const printed = z.union([entry.transform((one) => [one]), z.object({ results: z.array(entry) }).transform(({ results }) => results)]);

/** What `dualfocus evaluate --json` prints: one model's result, or those of several. */
export const readEvaluations = (text: string): readonly EvaluationEntry[] => printed.parse(JSON.parse(text));

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
export function paperFigures({ rows }: PaperTable, metrics: EvaluationEntry["metrics"]): Figures {
  const figures = COLUMNS.flatMap(({ column, metric, percent }) => {
    const value = metrics[metric];
    if (typeof value !== "number" || !rows.some(({ paper }) => column in paper)) return [];
    return [[column, percent ? 100 * value : value] as const];
  });
  return Object.fromEntries(figures);
}
