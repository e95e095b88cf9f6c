import { join } from "node:path";

import { asUserError } from "../depth/errors.ts";
import type { DepthOptions } from "../depth/options.ts";
import { defaultOutput, depthOfStack, type StackRun } from "../depth/node/stackRun.ts";
import { createReport } from "./depthReport.ts";
import { finished, reportBatch, stackFolders } from "./batchFolders.ts";
import type { BatchEntry } from "./depthText.ts";
import { UserError } from "../system/userError.ts";

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
  reportBatch(entries, options.json);
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
