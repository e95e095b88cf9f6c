import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { naturalOrder } from "../stack/stackFormat.ts";
import { placed, type DepthDocument } from "../depth/node/stackRun.ts";
import { UserError } from "../system/userError.ts";
import { batchTable, type BatchEntry } from "./depthText.ts";

/** The sub-folders that hold stacks, in natural order. */
export async function stackFolders(folder: string): Promise<string[]> {
  const remedy = "the folder holds one sub-folder for each stack";
  const names = await readdir(folder).catch((cause: unknown) => {
    const { code = "" } = cause as NodeJS.ErrnoException;
    const reason = { ENOENT: "there is no such folder", ENOTDIR: "is a file, not a folder" }[code] ?? `cannot be read (${code})`;
    throw new UserError(`${folder}: ${reason}`, { exitCode: 3, remedy, cause });
  });
  const folders: string[] = [];
  for (const name of names) {
    const isFolder = (await stat(join(folder, name)).catch(() => undefined))?.isDirectory(); // links that lead nowhere are no stacks
    if (isFolder && !name.startsWith(".")) folders.push(name);
  }
  if (folders.length === 0) throw new UserError(`${folder}: no folders in it`, { exitCode: 3, remedy });
  return naturalOrder(folders);
}

/**
 * `fillFolder` puts a folder in its place only when all of it is written: what has a result.json is finished. Paths of files start with
 * the output folder, as those of a stack that is computed now.
 */
export async function finished(output: string): Promise<DepthDocument | undefined> {
  try {
    const document = JSON.parse(await readFile(join(output, "result.json"), "utf8")) as DepthDocument;
    return { ...document, files: placed(document.files, output) };
  } catch {
    return undefined;
  }
}

/** The table, or the whole as JSON; stacks that failed are an error at the end. */
export function reportBatch(entries: readonly BatchEntry[], json: boolean): void {
  const count = (status: BatchEntry["status"]): number => entries.filter((entry) => entry.status === status).length;
  const counts = { done: count("done"), skipped: count("skipped"), failed: count("failed") };
  process.stdout.write(json ? `${JSON.stringify({ ...counts, stacks: entries })}\n` : batchTable(entries));
  if (counts.failed > 0)
    throw new UserError(`${counts.failed} of ${entries.length} stacks failed`, {
      exitCode: 3,
      remedy: "mend them and run the same command again: finished stacks are kept",
    });
}
