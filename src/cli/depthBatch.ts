import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { naturalOrder } from "../io/stackFolder.ts";
import { asUserError } from "../job/depthErrors.ts";
import type { DepthOptions } from "../job/depthOptions.ts";
import { defaultOutput, depthOfStack, type DepthDocument, type StackRun } from "../job/depthStack.ts";
import { createReport } from "./depthReport.ts";
import { batchTable, type BatchEntry } from "./depthText.ts";
import { UserError } from "../job/errors.ts";

interface Run extends Pick<StackRun, "network" | "signal"> {
  readonly options: DepthOptions;
}

export interface BatchRun extends Run {
  /** Holds one folder for each stack. */
  readonly folder: string;
}

/** Every sub-folder as a stack of its own. Results that are there already are kept; a stack that fails does not stop the others. */
export async function depthOfFolders({ folder, options, network, signal }: BatchRun): Promise<void> {
  const names = await stackFolders(folder);
  const root = options.output ?? defaultOutput(folder);
  const entries: BatchEntry[] = [];
  for (const [i, name] of names.entries()) {
    const output = join(root, name);
    const before = options.force ? undefined : await finished(output);
    if (!options.quiet) process.stderr.write(`${name} (${i + 1} of ${names.length})${before ? ": done before" : ""}\n`);
    if (before) entries.push({ name, status: "skipped", output, result: before });
    else entries.push(await attempt({ folder: join(folder, name), name, output }, { options, network, signal }));
  }
  report(entries, options.json);
}

async function stackFolders(folder: string): Promise<string[]> {
  const remedy = "with --batch the folder holds one sub-folder for each stack";
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

/** `fillFolder` puts a folder in its place only when all of it is written: what has a result.json is finished. */
async function finished(output: string): Promise<DepthDocument | undefined> {
  try {
    return JSON.parse(await readFile(join(output, "result.json"), "utf8")) as DepthDocument;
  } catch {
    return undefined;
  }
}

interface Place {
  readonly folder: string;
  readonly name: string;
  readonly output: string;
}

async function attempt({ folder, name, output }: Place, run: Run): Promise<BatchEntry> {
  const { truth } = run.options;
  try {
    const { document: result } = await depthOfStack({
      ...run,
      inputs: [folder],
      output,
      report: createReport(run.options),
      ...(truth === undefined ? {} : { truth: join(folder, truth) }),
    });
    return { name, status: "done", output, result };
  } catch (failure) {
    run.signal.throwIfAborted();
    const error = asUserError(failure);
    if (!(error instanceof UserError)) throw error;
    const remedy = error.remedy === undefined ? {} : { remedy: error.remedy };
    process.stderr.write(`${name}: ${error.message}\n${error.remedy === undefined ? "" : `  ${error.remedy}\n`}`);
    return { name, status: "failed", output, error: { message: error.message, ...remedy } };
  }
}

function report(entries: readonly BatchEntry[], json: boolean): void {
  const count = (status: BatchEntry["status"]): number => entries.filter((entry) => entry.status === status).length;
  const counts = { done: count("done"), skipped: count("skipped"), failed: count("failed") };
  process.stdout.write(json ? `${JSON.stringify({ ...counts, stacks: entries })}\n` : batchTable(entries));
  if (counts.failed > 0)
    throw new UserError(`${counts.failed} of ${entries.length} stacks failed`, {
      exitCode: 3,
      remedy: "mend them and run the same command again: finished stacks are kept",
    });
}
