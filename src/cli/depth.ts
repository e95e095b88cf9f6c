import { stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Command, Option } from "commander";

import { defaultOutput, depthOfStack, type RunReport } from "../depth/node/stackRun.ts";
import { createProgress } from "../depth/progress.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import { DEVICES } from "../network/node/devices.ts";
import { openNetwork } from "../network/node/openNetwork.ts";
import { DualFocusError } from "../errors.ts";
import { UserError } from "../system/userError.ts";
import { wholeNumber } from "./arguments.ts";
import {
  colorsOption,
  DISTANCES_HELP,
  fillOption,
  preferOption,
  reverseOption,
  SAVED_NAMES,
  savedHelp,
  saveOption,
  sizeOption,
  unitOption,
} from "./depthOptions.ts";
import { depthOfFolders, warn, type DepthOptions, type Place, type Run } from "./depthFolders.ts";
import { describeResult, stackFolders } from "./depthResults.ts";
import { stoppable } from "./stop.ts";
import { errorDocument } from "./words.ts";

export function depthCommand(): Command {
  return new Command("depth")
    .argument("<stack...>", "the stack; several folders are several stacks")
    .option("-o, --output <DIR>", "folder for the results (default: NAME-depth in the current folder)")
    .option("--distances <LIST>", DISTANCES_HELP)
    .addOption(unitOption())
    .option("--model <small|fine|FILE>", "network", "small")
    .addOption(new Option("--device <DEVICE>", "where the network runs").choices(DEVICES).default("auto"))
    .option("--align <auto|off|FILE>", "align the frames (off: microscopes; FILE: an alignment.json of an earlier run)", "auto")
    .addOption(reverseOption())
    .addOption(sizeOption())
    .addOption(saveOption())
    .addOption(fillOption())
    .addOption(colorsOption())
    .option("--legend", "a legend below color.png, and a scale bar where the camera is known", false)
    .addOption(preferOption())
    .option("--truth <FILE>", "true depth to compare with (npy, png, tif, exr, pfm); with --batch its name in each folder")
    .option("--threads <N>", "CPU threads (0: one per core)", wholeNumber(0), 0)
    .option("--batch", "the folder holds one sub-folder for each stack; finished ones are skipped", false)
    .option("--force", "replace files in an output folder that is not empty", false)
    .option("--json", "print the result, or the error, as one JSON document", false)
    .option("--quiet", "no progress, no warnings", false)
    .addHelpText("after", savedHelp())
    .action(depth);
}

/**
 * V8 compiles a function for speed once it has run this many bytes of its code; by default (Node 20) it is a sixth of that. The command takes seconds,
 * most of them in native code and kernels, and compiling took a tenth of its processor time.
 */
const OPTIMIZE_AFTER = 400_000;

/** The versions of V8, those of Node 20 to 24, whose flag that is: another would print that it does not know it. */
const V8 = /^1[1-3]\./;

async function depth(inputs: readonly string[], options: DepthOptions): Promise<void> {
  if (V8.test(process.versions.v8)) setFlagsFromString(`--interrupt-budget=${OPTIMIZE_AFTER}`);
  let network: Promise<DepthNetwork> | undefined;
  const opened = (): Promise<DepthNetwork> => (network ??= announced(options));
  const body = async (signal: AbortSignal): Promise<void> => {
    const run: Run = { options, network: opened, signal };
    const places = await inJson(options, () => {
      checkSaved(options);
      return stackPlaces(inputs, options);
    });
    await (places ? depthOfFolders(places, run, createReport) : inJson(options, () => depthOfOne(inputs, run)));
  };
  const words = { signals: ["SIGINT", "SIGTERM", "SIGHUP"], reason: "stopped; nothing half-written is left" } as const;
  await stoppable(body, words).finally(async () => {
    const loaded = await network?.catch(() => undefined); // its failure has been reported already
    await loaded?.dispose();
  });
}

/** `--save all` asks for what there is. */
function checkSaved({ fill, save }: DepthOptions): void {
  if (fill === "off" && save.includes("filled") && save.length < SAVED_NAMES.length)
    throw new UserError("--save filled marks what was filled, but --fill off fills nothing", {
      exitCode: 2,
      remedy: "leave out one of the two",
    });
}

async function announced(options: DepthOptions): Promise<DepthNetwork> {
  const { model, device, threads, batch: many } = options;
  const loaded = await openNetwork(model, { device, threads, many });
  if (!options.quiet) process.stderr.write(`device: ${loaded.device} (${loaded.reason})\n`);
  return loaded;
}

/** With `--json` a failure is a document on stdout, too. */
async function inJson<T>({ json }: DepthOptions, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (failure) {
    if (json) process.stdout.write(`${JSON.stringify({ error: errorDocument(failure) })}\n`);
    throw failure;
  }
}

/** The stacks of a folder of folders, or several folders; undefined for one stack. */
async function stackPlaces(inputs: readonly string[], { batch, output }: DepthOptions): Promise<readonly Place[] | undefined> {
  const [folder, ...others] = inputs as [string, ...string[]];
  if (batch && others.length > 0)
    throw new UserError(`--batch takes one folder, got ${inputs.length}`, {
      exitCode: 2,
      remedy: "name the folder that holds the stacks, or leave out --batch to name the stacks themselves",
    });
  if (batch) {
    const root = output ?? defaultOutput(folder);
    return (await stackFolders(folder)).map((name) => ({ folder: join(folder, name), name, output: join(root, name) }));
  }
  const areFolders = await Promise.all(inputs.map(async (input) => (await stat(input).catch(() => undefined))?.isDirectory() ?? false));
  if (others.length === 0 || areFolders.includes(false)) return undefined; // files among folders are named by `openStack`
  const names = inputs.map((input) => basename(resolve(input)));
  const twin = names.find((name, n) => names.indexOf(name) !== n);
  if (twin !== undefined)
    throw new UserError(`two of the folders are called ${twin}, so their results would be in one place`, {
      exitCode: 2,
      remedy: "run the command for each of them, with different -o",
    });
  return inputs.map((input, n) => {
    const name = names[n] as string;
    return { folder: input, name, output: output === undefined ? defaultOutput(input) : join(output, name) };
  });
}

async function depthOfOne(inputs: readonly string[], run: Run): Promise<void> {
  const { output, truth, threads, json } = run.options;
  const places = { ...(output === undefined ? {} : { output }), ...(truth === undefined ? {} : { truth }) };
  const { document, folder } = await depthOfStack({
    ...run,
    inputs,
    ...places,
    threads,
    disposeNetwork: true,
    report: createReport(run.options),
  }).catch(async (failure: unknown) => {
    throw (await folderOfStacks(inputs, failure)) ?? failure;
  });
  process.stdout.write(json ? `${JSON.stringify(document)}\n` : describeResult(document, folder, run.options.unit));
}

/** A folder without images that holds folders was probably meant as a batch. */
async function folderOfStacks(inputs: readonly string[], failure: unknown): Promise<UserError | undefined> {
  if (!(failure instanceof DualFocusError && failure.code === "no-images")) return undefined;
  const folders = await stackFolders(inputs[0] as string).catch(() => []);
  if (folders.length === 0) return undefined;
  const message = `${failure.message}, but ${folders.length === 1 ? "one folder" : `${folders.length} folders`} (${folders.slice(0, 3).join(", ")}${folders.length > 3 ? ", …" : ""})`;
  return new UserError(message, { exitCode: 3, remedy: "add --batch if each of them is a stack", cause: failure });
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
