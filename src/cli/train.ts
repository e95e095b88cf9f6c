import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { readWeights, type Weights } from "../io/safetensors.ts";
import { configs, parseNetworkConfig, type ConfigName, type NetworkConfig } from "../model/config.ts";
import { grownWeights } from "../model/grown.ts";
import { withPretrainedTrunk } from "../model/pretrained.ts";
import { initialWeights } from "../model/state.ts";
import type { Model } from "../network/weightsFile.ts";
import { createRandom } from "../random.ts";
import { checkInitial, readCheckpoint, readInitial, readInput, type Checkpoint } from "../train/checkpoint.ts";
import { overrideConfig, shortSettings, type TrainConfig } from "../train/config.ts";
import { membershipFrom, type Membership } from "../train/distributed.ts";
import { spawnProcesses, whenLauncherEnds } from "../train/launcher.ts";
import { presets, type PresetName } from "../train/presets.ts";
import { runFiles, runTraining, type TrainRequest, type TrainResult } from "../train/run.ts";
import { applyVariant, variants, type Variant } from "../train/variants.ts";
import { UserError } from "../system/userError.ts";
import { makeFolder } from "../system/outputFolder.ts";
import { holdFolder } from "../system/lock.ts";
import { collect, finiteNumber, wholeNumber } from "./arguments.ts";
import { stoppable } from "./stop.ts";

interface TrainOptions {
  readonly preset?: PresetName;
  readonly model?: string;
  readonly variant?: Variant;
  readonly init?: string;
  readonly encoder?: string;
  readonly data?: string;
  readonly textures?: string;
  readonly device: string;
  readonly threads?: number;
  readonly minutes?: number;
  readonly steps?: number;
  readonly batchSize?: number;
  readonly seed?: number;
  readonly set: readonly string[];
  readonly processes?: number;
  readonly resume?: true;
  readonly output: string;
  readonly json?: true;
  readonly quiet?: true;
}

export function trainCommand(): Command {
  return new Command("train")
    .addOption(new Option("--preset <name>", "recipe to start from").choices(Object.keys(presets)))
    .option("--model <name|file>", "small, fine, base, dfv, or a JSON file that describes a network")
    .addOption(new Option("--variant <name>", "train the network of one row of the paper's ablation tables").choices(Object.keys(variants)))
    .option("--init <file>", "weights to start from, or a run's checkpoint (.safetensors)")
    .option("--encoder <file>", "ResNet-18 weights to start the encoder from, named as torchvision's (.safetensors)")
    .option("--data <dir>", "folder of the dataset, for presets that read one; a resumed run remembers it")
    .option("--textures <dir>", "images as textures of rendered scenes (a folder, or raw pixels in a .bin); a resumed run remembers them")
    .option("--device <device>", "cpu, cuda or cuda:N", "cpu")
    .option("--threads <count>", "CPU threads", wholeNumber(1))
    .option("--minutes <minutes>", "training time in minutes; the learning rate follows the time, across resumes too", finiteNumber)
    .option("--steps <count>", "number of training steps", finiteNumber)
    .option("--batch-size <stacks>", "stacks per step", finiteNumber)
    .option("--seed <seed>", "random seed", finiteNumber)
    .option("--set <name=value>", "change any setting, e.g. loss.beta=0.1 (repeatable)", collect, [])
    .option(
      "--processes <count>",
      "number of training processes on this machine, one per device; RANK in the environment takes precedence",
      wholeNumber(1),
    )
    .option("--resume", "continue the run in the output folder")
    .requiredOption("-o, --output <dir>", "folder of the run")
    .option("--json", "print the result as one JSON document")
    .option("--quiet", "no progress")
    .action(async (options: TrainOptions) => {
      if (options.processes !== undefined && options.processes > 1 && process.env["RANK"] === undefined) {
        await spawnProcesses(options.processes, { args: process.argv.slice(1) });
        return;
      }
      const membership = membershipFrom(process.env);
      if (options.processes !== undefined && options.processes !== (membership?.size ?? 1) && (membership?.rank ?? 0) === 0)
        process.stderr.write(`--processes ${options.processes} is ignored because RANK=${process.env["RANK"]} is set\n`);
      const result = await trainFrom(options, membership);
      if (membership === undefined || membership.rank === 0)
        process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : describeResult(result));
    });
}

async function trainFrom(options: TrainOptions, membership: Membership | undefined): Promise<TrainResult> {
  const { threads, textures, data, output: folder, quiet } = options;
  const progress = (line: string): void => {
    if (!quiet) process.stderr.write(`${line}\n`);
  };
  const device = membership && options.device === "cuda" ? `cuda:${process.env["LOCAL_RANK"] ?? membership.rank}` : options.device;
  const train = async (signal: AbortSignal, stop: () => void): Promise<TrainResult> => {
    const forgetLauncher = whenLauncherEnds(stop);
    try {
      checkUsage(options);
      const fresh = options.resume ? undefined : await findStart(options); // errors are reported before a folder is made
      await makeFolder(folder);
      const body = async (): Promise<TrainResult> => {
        checkFolder(options); // another run may have ended in the meantime
        const start = fresh ?? (await findStart(options));
        return runTraining({ ...start, folder, device, threads, membership, textures, data, stop: signal, progress });
      };
      return await (membership === undefined || membership.rank === 0 ? holdFolder(folder, body) : body());
    } finally {
      forgetLauncher();
    }
  };
  return stoppable(train, { notice: "saving a checkpoint, then stopping" });
}

/** The start of a run: a checkpoint to continue, or a recipe and perhaps weights. */
async function findStart(options: TrainOptions): Promise<Pick<TrainRequest, "before" | "checkpoint" | "config" | "weights">> {
  const checkpoint = options.resume ? await readCheckpoint(runFiles(options.output).checkpoint) : undefined;
  const init = options.init === undefined ? undefined : await readInitial(options.init);
  const config = await chooseConfig(options, { checkpoint, init });
  const grown = init && grownWeights(freshWeights(config), init.weights);
  if (grown) checkInitial(grown, config.model, options.init ?? "");
  const weights = grown ?? (options.encoder === undefined ? undefined : await pretrained(config, options.encoder));
  return { before: init?.facts.training, checkpoint, config, weights };
}

/** The weights a run of this configuration starts from if none are given. */
const freshWeights = ({ model, seed }: TrainConfig): Weights => initialWeights(model, createRandom(seed).split("weights"));

async function pretrained(config: TrainConfig, file: string): Promise<Weights> {
  return withPretrainedTrunk(freshWeights(config), readWeights(await readInput(file), file), file);
}

function checkUsage(options: TrainOptions): void {
  const { resume, preset, init, encoder, minutes, steps, model, variant } = options;
  if ([resume, init, encoder].filter((source) => source !== undefined).length > 1)
    throw new UserError("--resume, --init and --encoder cannot be combined", { exitCode: 2, remedy: "choose what to start from" });
  if (minutes !== undefined && steps !== undefined) throw new UserError("--minutes and --steps cannot be combined", { exitCode: 2 });
  checkFolder(options);
  for (const [option, value] of Object.entries({ preset, model, variant }))
    if (resume && value !== undefined)
      throw new UserError(`--${option} cannot change in a resumed run`, {
        exitCode: 2,
        remedy: "leave it out, or start another run with --init",
      });
  if (!resume && preset === undefined)
    throw new UserError("missing --preset", { exitCode: 2, remedy: `choose one of ${Object.keys(presets).join(", ")}` });
}

/** A new run needs a folder without one, a resumed run a folder with one. */
function checkFolder({ resume, output }: TrainOptions): void {
  const present = existsSync(runFiles(output).checkpoint);
  if (present && !resume)
    throw new UserError(`${output}: already holds a run`, { exitCode: 2, remedy: "continue it with --resume, or choose another -o" });
  if (!present && resume)
    throw new UserError(`${output}: there is no checkpoint to resume`, { exitCode: 3, remedy: "leave out --resume to start a run there" });
}

/** The checkpoint's configuration, or the preset's, changed by the command line. */
async function chooseConfig(
  options: TrainOptions,
  { checkpoint, init }: { readonly checkpoint: Checkpoint | undefined; readonly init: Model | undefined },
): Promise<TrainConfig> {
  const { preset, model, variant } = options;
  const start: TrainConfig = checkpoint?.config ?? presets[preset ?? "render"];
  const network = model === undefined ? (init?.config ?? start.model) : await findNetwork(model);
  const config = overrideConfig({ ...start, model: network }, [...shortSettings(options), ...options.set]);
  return variant === undefined ? config : applyVariant(config, variant); // last: what it leaves out stays out
}

async function findNetwork(model: string): Promise<NetworkConfig> {
  if (Object.hasOwn(configs, model)) return configs[model as ConfigName];
  if (!existsSync(model))
    throw new UserError(`${model}: neither a known network (${Object.keys(configs).join(", ")}) nor a file`, { exitCode: 3 });
  return parseNetworkConfig(await readFile(model, "utf8"), model);
}

function describeResult({ step, seconds, stopped, metrics, files }: TrainResult): string {
  const measured = Object.entries(metrics).map(([name, value]) => `  ${name} ${Number(value.toPrecision(4))}\n`);
  return `${stopped ? "Stopped" : "Done"} after ${step} steps, ${(seconds / 60).toFixed(1)} minutes.\n${measured.join("")}  ${files.weights}\n`;
}
