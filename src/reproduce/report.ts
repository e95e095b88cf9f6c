import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { writeAtomically } from "../system/atomicFile.ts";
import type { Figures } from "./paperTable.ts";

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

export interface ReproducedTable {
  readonly name: string;
  readonly number: number;
  readonly title: string;
  /** What the paper measured on. */
  readonly on: string;
  /** What ours were measured on. */
  readonly measured: string;
  readonly rows: readonly ReproducedRow[];
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
