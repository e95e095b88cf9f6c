import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { writeAtomically } from "../system/atomicFile.ts";
import type { Figures, PaperRow, PaperTable, Recipe } from "./paperTable.ts";

/** A row with the paper's figures and ours. */
export interface ReproducedRow {
  readonly label: string;
  readonly paper: Figures;
  readonly ours?: Figures;
  /** The command that gives ours. */
  readonly command?: string;
  /** What is missing, where ours is. */
  readonly needs?: string;
}

export interface ReproducedTable extends Omit<PaperTable, "rows"> {
  /** What ours were measured on. */
  readonly measured: string;
  readonly rows: readonly ReproducedRow[];
}

/** The rows of a table, those of the project's own methods with what `fill` gives for their recipe. */
export function fillRows<Kind extends Recipe["kind"]>(
  { rows }: PaperTable,
  kind: Kind,
  fill: (recipe: Extract<Recipe, { kind: Kind }>, row: PaperRow) => Omit<ReproducedRow, "label" | "paper">,
): ReproducedRow[] {
  const isFilled = (recipe: Recipe | undefined): recipe is Extract<Recipe, { kind: Kind }> => recipe?.kind === kind;
  return rows.map((row) => {
    const { label, paper, recipe } = row;
    return { label, paper, ...(isFilled(recipe) ? fill(recipe, row) : { needs: "a method this project does not have" }) };
  });
}

/** Markdown: the paper's columns, then ours; "needs" at the end where something is missing. */
export function formatTable({ number, title, on, measured, rows }: ReproducedTable): string {
  const names = (of: (row: ReproducedRow) => Figures): string[] => [...new Set(rows.flatMap((row) => Object.keys(of(row))))];
  const paper = names((row) => row.paper);
  const ours = names((row) => row.ours ?? {});
  const lacking = rows.some(({ needs }) => needs !== undefined);
  const header = ["", ...paper.map((name) => `paper: ${name}`), ...ours.map((name) => `ours: ${name}`), ...(lacking ? ["needs"] : [])];
  const cells = rows.map((row) => [
    row.label,
    ...paper.map((name) => exact(row.paper[name])),
    ...ours.map((name) => rounded(row.ours?.[name])),
    ...(lacking ? [row.needs ?? ""] : []),
  ]);
  const line = (row: readonly string[]): string => `| ${row.join(" | ")} |\n`;
  const rule = header.map((_, i) => (i === 0 ? "---" : "---:"));
  const table = [header, rule, ...cells].map(line).join("");
  return `Table ${number}. ${title}. The paper: ${on}. Ours: ${measured}.\n\n${table}`;
}

/** The paper's figures, with its digits. */
const exact = (value: number | undefined): string => (value === undefined ? "–" : String(value));

function rounded(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  return Math.abs(value) >= 1000 ? value.toFixed(0) : value.toPrecision(3);
}

/** Writes a table into `folder`, as Markdown (`.md`) and JSON (`.rows.json`). */
export async function writeTable(table: ReproducedTable, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeAtomically(join(folder, `${table.name}.rows.json`), Buffer.from(`${JSON.stringify(table, undefined, 1)}\n`));
  await writeAtomically(join(folder, `${table.name}.md`), Buffer.from(formatTable(table)));
}

/** What a person would type: `dualfocus` with each option that has a value, quoted for a shell. */
export function commandLine(command: string, options: Readonly<Record<string, string | number | readonly string[] | undefined>>): string {
  const quoted = (value: string | number): string => (/^[\w./=@:,-]+$/.test(`${value}`) ? `${value}` : `'${value}'`);
  const given = Object.entries(options).flatMap(([name, value = []]) =>
    (typeof value === "object" ? value : [value]).map((one) => `--${name} ${quoted(one)}`),
  );
  return ["dualfocus", command, ...given].join(" ");
}
