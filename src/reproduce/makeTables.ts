import type { ReproducedTable } from "./report.ts";

/** The outcome of some tables. */
export interface Made {
  readonly tables: readonly ReproducedTable[];
  /** Why rows or whole tables are empty. */
  readonly failures: readonly unknown[];
}

export interface MakeOptions {
  /** Called with each table as soon as it is made. */
  readonly onTable: (table: ReproducedTable) => Promise<void>;
  readonly stop: AbortSignal;
}

/** Runs one step after another; the others continue when one fails, unless `stop` has fired. */
export async function makeTables(steps: readonly (() => Promise<Made>)[], { onTable, stop }: MakeOptions): Promise<Made> {
  const tables: ReproducedTable[] = [];
  const failures: unknown[] = [];
  for (const step of steps)
    try {
      const made = await step();
      for (const table of made.tables) await onTable(table);
      tables.push(...made.tables);
      failures.push(...made.failures);
    } catch (error) {
      if (stop.aborted) throw error;
      failures.push(error);
    }
  return { tables, failures };
}
