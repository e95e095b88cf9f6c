import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { writeAtomically } from "../system/atomicFile.ts";
import { formatTable, type ReproducedTable } from "./report.ts";

/** Writes a table into `folder`, for people (`.md`) and for programs (`.rows.json`). */
export async function writeTable(table: ReproducedTable, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeAtomically(join(folder, `${table.name}.rows.json`), Buffer.from(`${JSON.stringify(table, undefined, 1)}\n`));
  await writeAtomically(join(folder, `${table.name}.md`), Buffer.from(formatTable(table)));
}
