import { join } from "node:path";
import { Command, Option } from "commander";

import type { Finding } from "../check/finding.ts";
import { defaultOutput, depthOfStack, type RunReport, type StackOptions, type StackRun } from "../depth/node/stackRun.ts";
import { createProgress } from "../depth/progress.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import { DEVICES, type DeviceName } from "../network/node/devices.ts";
import { openNetwork } from "../network/node/openNetwork.ts";
import { UserError } from "../system/userError.ts";
import { wholeNumber } from "./arguments.ts";
import { reverseOption, saveOption, sizeOption, unitOption } from "./depthOptions.ts";
import { describeResult, failed, finished, reportBatch, stackFolders, type BatchEntry } from "./depthResults.ts";
import { stoppable } from "./stop.ts";
import { findingRemedy } from "./words.ts";

interface DepthOptions extends StackOptions {
  readonly output?: string;
  readonly device: DeviceName;
  readonly truth?: string;
  readonly threads: number;
  readonly batch: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

export function depthCommand(): Command {
  return new Command("depth")
    .argument("<stack...>", "the stack")
    .option("-o, --output <DIR>", "folder for the results (default: NAME-depth in the current folder)")
    .option("--distances <LIST>", "focus distances, separated by commas, in the order of the file names; or a text file")
    .addOption(unitOption())
    .option("--model <base|small|FILE>", "network", "small")
    .addOption(new Option("--device <DEVICE>", "where the network runs").choices(DEVICES).default("auto"))
    .option("--align <auto|off|FILE>", "align the frames (off: microscopes; FILE: an alignment.json of an earlier run)", "auto")
    .addOption(reverseOption())
    .addOption(sizeOption())
    .addOption(saveOption())
    .option("--fill", "carry depth into areas where no plane is sharper than another (plain walls), from around them", false)
    .option("--truth <FILE>", "true depth to compare with (npy, png, tif, exr, pfm); with --batch its name in each folder")
    .option("--threads <N>", "CPU threads (0: one per core)", wholeNumber(0), 0)
    .option("--batch", "the folder holds one sub-folder for each stack; finished ones are skipped", false)
    .option("--force", "replace files in an output folder that is not empty", false)
    .option("--json", "print the result as one JSON document", false)
    .option("--quiet", "no progress, no warnings", false)
    .action(depth);
}

async function depth(inputs: readonly string[], options: DepthOptions): Promise<void> {
  const [folder, ...others] = inputs as [string, ...string[]];
  if (options.batch && others.length > 0)
    throw new UserError(`--batch takes one folder, got ${inputs.length}`, { exitCode: 2, remedy: "name the folder that holds the stacks" });
  let network: Promise<DepthNetwork> | undefined;
  const opened = (): Promise<DepthNetwork> => (network ??= announced(options));
  const body = async (signal: AbortSignal): Promise<void> => {
    const run: Run = { options, network: opened, signal };
    await (options.batch ? depthOfFolders(folder, run) : depthOfOne(inputs, run));
  };
  const words = { signals: ["SIGINT", "SIGTERM", "SIGHUP"], reason: "stopped; nothing half-written is left" } as const;
  await stoppable(body, words).finally(async () => {
    const loaded = await network?.catch(() => undefined); // its failure has been reported already
    await loaded?.dispose();
  });
}

async function announced(options: DepthOptions): Promise<DepthNetwork> {
  const { model, device, threads, batch: many } = options;
  const loaded = await openNetwork(model, { device, threads, many });
  if (!options.quiet) process.stderr.write(`device: ${loaded.device} (${loaded.reason})\n`);
  return loaded;
}

interface Run extends Pick<StackRun, "network" | "signal"> {
  readonly options: DepthOptions;
}

async function depthOfOne(inputs: readonly string[], run: Run): Promise<void> {
  const { output, truth, json } = run.options;
  const places = { ...(output === undefined ? {} : { output }), ...(truth === undefined ? {} : { truth }) };
  const { document, folder } = await depthOfStack({ ...run, inputs, ...places, report: createReport(run.options) });
  process.stdout.write(json ? `${JSON.stringify(document)}\n` : describeResult(document, folder));
}

/** Every sub-folder as a stack of its own. Finished results are kept; a stack that fails does not stop the others. */
async function depthOfFolders(folder: string, run: Run): Promise<void> {
  const { options } = run;
  const names = await stackFolders(folder);
  const root = options.output ?? defaultOutput(folder);
  const entries: BatchEntry[] = [];
  for (const [i, name] of names.entries()) {
    const output = join(root, name);
    const before = options.force ? undefined : await finished(output);
    if (!options.quiet) process.stderr.write(`${name} (${i + 1} of ${names.length})${before ? ": finished earlier" : ""}\n`);
    if (before) entries.push({ name, status: "skipped", output, result: before });
    else entries.push(await attempt({ folder: join(folder, name), name, output }, run));
  }
  reportBatch(entries, options.json);
}

async function attempt({ folder, name, output }: { folder: string; name: string; output: string }, run: Run): Promise<BatchEntry> {
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
    const entry = failed({ name, output }, failure);
    process.stderr.write(`${name}: ${entry.error.message}\n${entry.error.remedy === undefined ? "" : `  ${entry.error.remedy}\n`}`);
    return entry;
  }
}

/** Progress, notes and warnings on standard error; nothing if `quiet`. */
function createReport({ quiet }: { quiet: boolean }): RunReport {
  return {
    onStage: createProgress(process.stderr, { quiet }),
    onNote: (note) => {
      if (!quiet) process.stderr.write(`${note}\n`);
    },
    onFindings: quiet ? () => undefined : warn,
  };
}

function warn(findings: readonly Finding[]): void {
  for (const finding of findings)
    if (finding.severity !== "note") process.stderr.write(`${finding.severity}: ${finding.message}\n  ${findingRemedy(finding)}\n`);
}
