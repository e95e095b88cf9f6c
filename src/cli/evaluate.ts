import { existsSync } from "node:fs";
import { open, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Command, Option } from "commander";

import type { Split } from "../data/dataset.ts";
import { evaluateModels, loadPredictor, type LoadPredictor } from "../evaluate/evaluateModels.ts";
import { CLASSICAL_NAMES } from "../evaluate/predictor.ts";
import { EVALUATION_SETS, type EvaluationSetName } from "../evaluate/protocol.ts";
import { claimsTable, csvTable, jsonEntry, markdownTable } from "../evaluate/report.ts";
import type { Evaluation, Progress, Shown } from "../evaluate/run.ts";
import { Sheet } from "../evaluate/sheet.ts";
import { cannotWrite } from "../system/errno.ts";
import { makeFolder } from "../system/outputFolder.ts";
import { UserError } from "../system/userError.ts";
import { DEVICES, type DeviceName } from "../network/node/devices.ts";
import { duration } from "../output/duration.ts";
import { createRenderer } from "./renderHost.ts";
import { listOf, parser, wholeNumber } from "./arguments.ts";

interface EvaluateOptions {
  readonly dataset: EvaluationSetName;
  readonly data?: string;
  readonly model: readonly string[];
  readonly planes?: readonly number[];
  readonly split?: Split;
  readonly limit?: number;
  readonly protocol: "paper" | "adaptive";
  readonly textures?: string;
  readonly device: DeviceName;
  readonly threads: number;
  readonly resumeDir?: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly perImage: boolean;
  readonly csv?: string;
  readonly sheet?: string;
  readonly sheetImages: number;
}

/** `load` may be replaced to measure predictors of one's own. */
export function evaluateCommand({ load = loadPredictor }: { readonly load?: LoadPredictor } = {}): Command {
  return new Command("evaluate")
    .addOption(new Option("--dataset <NAME>", "dataset to measure on").choices(EVALUATION_SETS).makeOptionMandatory())
    .option("--data <DIR>", "folder of the dataset (docs/datasets.md shows each layout); not needed for render, object, phone and backdrop")
    .requiredOption(
      "--model <LIST>",
      `small, fine, base, dfv, a weights file, ${CLASSICAL_NAMES.join(", ")}; several with commas, or repeated`,
      names,
    )
    .option("--planes <LIST>", "number of planes, as 5 or 3,5,10 (default: the protocol's, or all of the stack)", listOf(wholeNumber(2)))
    .addOption(
      new Option("--split <NAME>", "part of the dataset (default: the one that published tables use)").choices([
        "train",
        "val",
        "test",
        "all",
      ]),
    )
    .option("--limit <K>", "only K images, spread evenly over the dataset (rendered sets: K scenes)", wholeNumber(1))
    .addOption(
      new Option("--protocol <NAME>", "protocol for RGB-D datasets. paper: HybridDepth's planes and lens; adaptive: FOSSA's")
        .choices(["paper", "adaptive"])
        .default("paper"),
    )
    .option("--textures <PATH>", "render: images for the scenes, besides the generated textures; every tenth is used")
    .addOption(new Option("--device <DEVICE>", "where the networks run; the CPU is exact f32, cuda f16").choices(DEVICES).default("cpu"))
    .option("--threads <N>", "CPU threads of the networks (0: one per core)", wholeNumber(0), 0)
    .option("--resume-dir <DIR>", "keep each image's result there, and continue from what an earlier run kept")
    .option("--json", "print one JSON document", false)
    .option("--quiet", "no progress", false)
    .option("--markdown", "print a Markdown table (the default)", false)
    .option("--per-image", "with --json: also the metrics of every image", false)
    .option("--csv <FILE>", "write the metrics of every image to this file")
    .option("--sheet <FILE.png>", "draw input, ground truth, each model's depth and its error")
    .option("--sheet-images <K>", "number of images on the sheet", wholeNumber(1), 4)
    .action((options: EvaluateOptions) => runEvaluate(options, load));
}

async function runEvaluate({ model: models, ...options }: EvaluateOptions, load: LoadPredictor): Promise<void> {
  for (const file of [options.csv, options.sheet]) await checkWritable(file);
  if (options.resumeDir !== undefined) await makeFolder(options.resumeDir);
  const rendered = { scenes: options.limit, textures: options.textures, createRenderer };
  const sheet = options.sheet === undefined ? undefined : new Sheet();
  const watch = {
    ...(!options.quiet && { onImage: progressLine(process.stderr) }),
    ...(sheet && { show: options.sheetImages, onShown: (shown: Shown) => { sheet.add(shown); } }), // prettier-ignore
  };
  const evaluations = await evaluateModels({ ...options, models, rendered }, { load, ...watch });
  if (options.csv !== undefined) await writeFile(options.csv, csvTable(evaluations));
  if (sheet && options.sheet !== undefined) await writeFile(options.sheet, await sheet.encode());
  print(evaluations, options);
}

/** Hours of work should not end at a file that cannot be written. One that is there keeps its content until then; no new one is left. */
async function checkWritable(file: string | undefined): Promise<void> {
  if (file === undefined) return;
  if (!existsSync(dirname(resolve(file))))
    throw new UserError(`${file}: there is no folder ${dirname(resolve(file))} to write into`, { exitCode: 2, remedy: "create it first" });
  const isNew = !existsSync(file);
  try {
    await (await open(file, "a")).close();
    if (isNew) await rm(file);
  } catch (cause) {
    throw cannotWrite(file, cause);
  }
}

/** One line, drawn over on a terminal; elsewhere a line per image. */
function progressLine(stream: NodeJS.WriteStream): (progress: Progress) => void {
  return ({ done, total, name, secondsLeft }) => {
    const text = `evaluate: ${done} of ${total} (${name}), ${duration(secondsLeft)} left`;
    stream.write(stream.isTTY ? `\r${text}\u001b[K${done === total ? "\n" : ""}` : `${text}\n`);
  };
}

function print(evaluations: readonly Evaluation[], { json, perImage }: Pick<EvaluateOptions, "json" | "perImage">): void {
  const [first] = evaluations;
  if (!first) throw new UserError("nothing was evaluated", { exitCode: 3, remedy: "check --limit and the dataset" });
  if (json) {
    const entries = evaluations.map((evaluation) => jsonEntry(evaluation, { perImage }));
    process.stdout.write(`${JSON.stringify(entries.length === 1 ? entries[0] : { results: entries })}\n`);
    return;
  }
  const protocols = [...new Set(evaluations.map(({ protocol }) => protocol))];
  process.stdout.write(`${first.dataset} (${first.split}). ${protocols.join("\n")}\n\n${markdownTable(evaluations)}`);
  const claims = claimsTable(evaluations);
  if (claims !== "")
    process.stdout.write(`\nClaimed errors, and finished depth, as dualfocus depth saves it (docs/confidence.md):\n\n${claims}`);
}

const name = parser("names separated by commas", (text) => text);
const names = (text: string, before: readonly string[] = []): readonly string[] => [...new Set([...before, ...listOf(name)(text)])];
