import type { DepthDocument } from "../depth/node/stackRun.ts";

const number = (value: number): string => value.toPrecision(4);

const unitName = (unit: string): string => (unit === "index" ? "(plane numbers)" : unit);

/** What a person is told about one stack. */
export function describeResult(document: DepthDocument, output: string): string {
  const { planes, width, height, unit, range, expectedError, errors, files, seconds } = document;
  const about = expectedError === null ? "" : `, ±${expectedError.toPrecision(2)} on average`;
  const lines = [
    `${planes} planes, ${width}×${height}; depth ${number(range[0])} to ${number(range[1])} ${unitName(unit)}${about}`,
    ...describeBeyond(document.beyond),
    ...(errors ? [describeErrors(errors)] : []),
    ...Object.entries(files).map(([name, file]) => `  ${name.padEnd(11)} ${file}`),
    `${output}: written in ${number(seconds["total"] ?? NaN)} s`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** A share of the picture below this is not worth a line. */
const LEAST_BEYOND = 0.01;

function describeBeyond({ nearer, farther }: DepthDocument["beyond"]): string[] {
  const told = [
    { share: nearer, where: "the first plane or nearer" },
    { share: farther, where: "the last plane or farther" },
  ].filter(({ share }) => share >= LEAST_BEYOND);
  if (told.length === 0) return [];
  return [`at ${told.map(({ share, where }) => `${where}: ${(100 * share).toFixed(0)} % of the picture`).join("; at ")} (--save beyond)`];
}

const FITTED = { depth: "it", "1/depth": "1 over it" } as const;

function describeErrors({ absRel, rmse, delta1, fit }: NonNullable<DepthDocument["errors"]>): string {
  const fitted = fit ? `, after ${number(fit.scale)} · plane number + ${number(fit.offset)} was fitted to ${FITTED[fit.of]}` : "";
  return `against the truth${fitted}: absRel ${number(absRel)}, rmse ${number(rmse)}, delta1 ${number(delta1)}`;
}

/** One stack of a batch. */
export interface BatchEntry {
  readonly name: string;
  /** `skipped`: its results were there already. */
  readonly status: "done" | "skipped" | "failed";
  readonly output: string;
  readonly result?: DepthDocument;
  readonly error?: { readonly message: string; readonly remedy?: string };
}

/** The table at the end of a batch. */
export function batchTable(entries: readonly BatchEntry[]): string {
  const hasErrors = entries.some(({ result }) => result?.errors);
  const head = ["stack", "status", "planes", "size", "depth", ...(hasErrors ? ["absRel"] : []), "seconds"];
  const rows = entries.map(({ name, status, result, error }) => {
    if (!result) return [name, status, error?.message ?? ""];
    const { planes, width, height, range, unit, errors, seconds } = result;
    const depth = `${number(range[0])} to ${number(range[1])} ${unitName(unit)}`;
    const absRel = errors ? number(errors.absRel) : "";
    const total = (seconds["total"] ?? NaN).toFixed(1);
    return [name, status, String(planes), `${width}×${height}`, depth, ...(hasErrors ? [absRel] : []), total];
  });
  const whole = [head, ...rows.filter(({ length }) => length === head.length)];
  const widths = head.map((_, column) =>
    Math.max(...whole.map((row) => row[column]?.length ?? 0), ...(column < 2 ? rows.map((row) => row[column]?.length ?? 0) : [])),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column < row.length - 1 ? cell.padEnd(widths[column] ?? 0) : cell))
      .join("  ")
      .trimEnd();
  return [head, ...rows].map((row) => `${line(row)}\n`).join("");
}
