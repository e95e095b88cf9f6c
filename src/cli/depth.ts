import { Command, Option } from "commander";

import { UNITS } from "../stack/stackFormat.ts";
import { DEFAULT_OUTPUTS, OUTPUT_NAMES } from "../output/outputs.ts";
import { depthOfFolders } from "./depthBatch.ts";
import { asUserError } from "../depth/errors.ts";
import { WORKING_SIDE, type DepthOptions } from "../depth/options.ts";
import { outputNames, threadCount, workingSize } from "./depthArguments.ts";
import { createReport } from "./depthReport.ts";
import { depthOfStack } from "../depth/node/stackRun.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import { describeResult } from "./depthText.ts";
import { UserError } from "../system/userError.ts";
import { DEVICES } from "../network/node/devices.ts";
import { openNetwork } from "../network/node/openNetwork.ts";

export function depthCommand(): Command {
  return new Command("depth")
    .argument("<stack...>", "the stack")
    .option("-o, --output <DIR>", "folder for the results (default: NAME-depth in the current folder)")
    .option("--distances <LIST>", "focus distances, separated by commas, in the order of the file names; or a text file")
    .addOption(new Option("--unit <UNIT>", "of the focus distances (default: m)").choices(UNITS))
    .option("--model <base|small|FILE>", "network", "small")
    .addOption(new Option("--device <DEVICE>", "where it runs").choices(DEVICES).default("auto"))
    .option("--align <auto|off|FILE>", "align the frames (off: microscopes; FILE: an alignment.json of an earlier run)", "auto")
    .option(
      "--size <PX|full|auto>",
      `longer side the network sees (auto: ${WORKING_SIDE}, more where planes differ by little blur)`,
      workingSize,
      "auto",
    )
    .option("--save <LIST>", `what to write, of ${OUTPUT_NAMES.join(", ")}`, outputNames, DEFAULT_OUTPUTS)
    .option("--truth <FILE>", "true depth to compare with (npy, png, tif, exr, pfm); with --batch its name in each folder")
    .option("--threads <N>", "CPU threads (0: all)", threadCount, 0)
    .option("--batch", "the folder holds one sub-folder for each stack; finished ones are skipped", false)
    .option("--force", "replace files in an output folder that is not empty", false)
    .option("--json", "print the result as one JSON document", false)
    .option("--quiet", "no progress, no warnings", false)
    .action(async (inputs: string[], options: DepthOptions) => {
      try {
        await depth(inputs, options);
      } catch (error) {
        throw asUserError(error);
      }
    });
}

async function depth(inputs: readonly string[], options: DepthOptions): Promise<void> {
  const [folder, ...others] = inputs as [string, ...string[]];
  if (options.batch && others.length > 0)
    throw new UserError(`--batch takes one folder, got ${inputs.length}`, { exitCode: 2, remedy: "name the folder that holds the stacks" });
  let network: Promise<DepthNetwork> | undefined;
  const run = { options, network: () => (network ??= announced(options)) };
  await stoppable(async (signal) => {
    if (options.batch) {
      await depthOfFolders({ ...run, folder, signal });
      return;
    }
    const { output, truth } = options;
    const { document, folder: place } = await depthOfStack({
      ...run,
      inputs,
      signal,
      report: createReport(options),
      ...(output === undefined ? {} : { output }),
      ...(truth === undefined ? {} : { truth }),
    });
    process.stdout.write(options.json ? `${JSON.stringify(document)}\n` : describeResult(document, place));
  }).finally(async () => {
    const loaded = await network?.catch(() => undefined); // its failure has been told already
    await loaded?.dispose();
  });
}

async function announced(options: DepthOptions): Promise<DepthNetwork> {
  const { model, device, threads, batch: many } = options;
  const loaded = await openNetwork(model, { device, threads, many });
  if (!options.quiet) process.stderr.write(`device: ${loaded.device} (${loaded.reason})\n`);
  return loaded;
}

/** Ctrl-C, `kill` or a container's end, and a terminal that was closed. */
const STOPPING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The first Ctrl-C stops `body` at its next step, so that it can tidy up; the second ends the program at once. */
async function stoppable(body: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort(new UserError("stopped; nothing half-written is left", { exitCode: 130 }));
  };
  for (const signal of STOPPING) process.on(signal, onSignal);
  try {
    await body(stop.signal);
  } finally {
    for (const signal of STOPPING) process.off(signal, onSignal);
  }
}
