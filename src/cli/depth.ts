import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";

import { AlignmentError } from "../align/alignment.ts";
import { readDepth } from "../data/readDepth.ts";
import { createNodeSession } from "../infer/node.ts";
import { StackError } from "../io/stackError.ts";
import { UNITS, type Unit } from "../io/stackFolder.ts";
import { measure } from "../metrics/meter.ts";
import { recordGraph } from "../model/graph.ts";
import { DEFAULT_OUTPUTS, encodeOutputs, OUTPUT_NAMES, type OutputName } from "../output/outputs.ts";
import { validFraction, validRange, type DepthResult } from "../output/result.ts";
import { encodeResultJson, type ResultSummary } from "../output/resultJson.ts";
import { openStack, type StackSource } from "../source/openStack.ts";
import { runDepth, savedAlignment, type DepthRun } from "./depthRun.ts";
import { UserError } from "./errors.ts";
import { loadModel } from "./loadModel.ts";
import { fillFolder } from "./outputFolder.ts";

interface DepthOptions {
  readonly output?: string;
  readonly distances?: string;
  readonly unit?: Unit;
  readonly model: string;
  readonly device: "auto" | "cpu" | "webgpu";
  readonly align: string;
  readonly size: number | "full";
  readonly save: readonly OutputName[];
  readonly truth?: string;
  readonly threads: number;
  readonly force: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Longer side of what the network sees: about the size of its training pictures' scenes, and quick on two cores. */
const WORKING_SIDE = 768;

export function depthCommand(): Command {
  return new Command("depth")
    .description("Depth, all-in-focus picture and confidence from a focal stack: a folder, pictures, a stack.json or a multi-page TIFF.")
    .argument("<stack...>", "the stack")
    .option("-o, --output <DIR>", "folder for the results (default: NAME-depth beside the current folder's files)")
    .option("--distances <LIST>", "focus distances, separated by commas, in the order of the file names; or a text file")
    .addOption(new Option("--unit <UNIT>", "of the focus distances (default: m)").choices(UNITS))
    .option("--model <base|small|FILE>", "network", "small")
    .addOption(new Option("--device <DEVICE>", "where it runs").choices(["auto", "cpu", "webgpu"]).default("auto"))
    .option("--align <auto|off|FILE>", "align the frames (off: microscopes; FILE: an alignment.json of an earlier run)", "auto")
    .option("--size <PX|full>", "longer side the network sees", workingSize, WORKING_SIDE)
    .option("--save <LIST>", `what to write, of ${OUTPUT_NAMES.join(", ")}`, outputNames, DEFAULT_OUTPUTS)
    .option("--truth <FILE>", "true depth to compare with (npy, png, tif, exr, pfm)")
    .option("--threads <N>", "CPU threads (0: all)", Number, 0)
    .option("--force", "replace files in an output folder that is not empty", false)
    .option("--json", "print the result as one JSON document", false)
    .option("--quiet", "no progress", false)
    .action(async (inputs: string[], options: DepthOptions) => {
      try {
        await depth(inputs, options);
      } catch (error) {
        throw mended(error);
      }
    });
}

async function depth(inputs: readonly string[], options: DepthOptions): Promise<void> {
  const start = performance.now();
  const source = await openStack(inputs, {
    ...(options.distances === undefined ? {} : { distances: options.distances }),
    ...(options.unit === undefined ? {} : { unit: options.unit }),
  });
  if (!options.quiet) for (const note of source.notes) process.stderr.write(`${note}\n`);
  const model = loadModel(options.model);
  const device = options.device === "auto" ? "cpu" : options.device;
  const session = await createNodeSession(recordGraph({ config: model.config, weights: model.weights }), {
    device,
    threads: options.threads,
  });
  const stop = new AbortController();
  const onSignal = (): void => {
    stop.abort(new UserError("stopped; nothing was written", { exitCode: 2 }));
  };
  process.once("SIGINT", onSignal);
  try {
    const run = await runDepth(source, {
      session,
      workingSide: options.size === "full" ? Infinity : options.size,
      align: await alignSetting(options.align),
      onStage: progress(options.quiet),
      signal: stop.signal,
    });
    const output = options.output ?? `${basename(source.name).replace(/\.[^.]*$/, "")}-depth`;
    const summary = await fillFolder(output, { force: options.force }, (folder) => write(folder, { source, run, options, device, start }));
    const errors = options.truth === undefined ? undefined : await compare(run.result, options.truth);
    const document = { ...summary, files: placed(summary.files, output), ...(errors ? { errors } : {}) };
    process.stdout.write(options.json ? `${JSON.stringify(document)}\n` : readable(document, { output, errors }));
  } finally {
    process.off("SIGINT", onSignal);
    await session.dispose();
  }
}

interface Writing {
  readonly source: StackSource;
  readonly run: DepthRun;
  readonly options: DepthOptions;
  readonly device: string;
  readonly start: number;
}

async function write(folder: string, { source, run, options, device, start }: Writing): Promise<ResultSummary> {
  const before = performance.now();
  const files: Record<string, string> = {};
  const encoding: Record<string, object> = {};
  for await (const { name, file, bytes, encoding: meaning } of encodeOutputs(run.result, options.save)) {
    await writeFile(join(folder, file), bytes);
    files[name] = file;
    encoding[name] = meaning;
  }
  if (run.aligned) await writeFile(join(folder, "alignment.json"), savedAlignment(run.aligned));
  const { depth, unit } = run.result;
  const seconds = (ms: number): number => Number((ms / 1000).toFixed(3));
  const summary: ResultSummary = {
    model: options.model,
    device,
    planes: run.planes.length,
    width: depth.width,
    height: depth.height,
    unit,
    distances: run.planes.map((n) => ({ file: source.files[n] as string, ...(source.focus[n] as StackSource["focus"][number]) })),
    range: validRange(depth),
    validFraction: validFraction(depth),
    invalidFocusTrend: run.estimate.invalidFocusTrend,
    aligned: alignmentSummary(run),
    notes: source.notes,
    files,
    encoding,
    seconds: { ...rounded(run.seconds), write: seconds(performance.now() - before), total: seconds(performance.now() - start) },
  };
  await writeFile(join(folder, "result.json"), encodeResultJson({ ...summary }));
  return summary;
}

const rounded = (seconds: DepthRun["seconds"]): Record<string, number> =>
  Object.fromEntries(Object.entries(seconds).map(([name, value]) => [name, Number(value.toFixed(3))]));

function alignmentSummary({ aligned }: DepthRun): object {
  if (!aligned) return { mode: "off" };
  const left = aligned.report.flatMap(({ ok, reason }, plane) => (ok ? [] : [{ plane, reason }]));
  const residuals = aligned.report.flatMap(({ residual }) => (residual === undefined ? [] : [residual]));
  return {
    mode: "auto",
    reference: aligned.alignment.reference,
    ...(residuals.length > 0 ? { residual: Math.max(...residuals) } : {}),
    ...(left.length > 0 ? { leftOut: left } : {}),
  };
}

async function compare({ depth }: DepthResult, file: string): Promise<Record<string, number>> {
  const truth = await readDepth(file, depth.space);
  if (truth.width !== depth.width || truth.height !== depth.height)
    throw new UserError(`${file}: ${truth.width}×${truth.height}, but the depth map is ${depth.width}×${depth.height}`, { exitCode: 3 });
  const { absRel, rmse, delta1 } = measure({ depth, trueDepth: truth });
  return { absRel, rmse, delta1 };
}

const placed = (files: Readonly<Record<string, string>>, folder: string): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(folder, file)]));

function readable(summary: ResultSummary, { output, errors }: { output: string; errors: Record<string, number> | undefined }): string {
  const { planes, width, height, unit, range, seconds } = summary;
  const number = (value: number): string => value.toPrecision(4);
  const lines = [
    `${planes} planes, ${width}×${height}; depth ${number(range[0])} to ${number(range[1])} ${unit === "index" ? "(plane numbers)" : unit}`,
    ...(errors ? [`against the truth: ${Object.entries(errors).map(([name, value]) => `${name} ${number(value)}`).join(", ")}`] : []), // prettier-ignore
    ...Object.entries(summary.files).map(([name, file]) => `  ${name.padEnd(11)} ${file}`),
    `${output}: written in ${number(seconds["total"] ?? NaN)} s`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function progress(quiet: boolean): (stage: string, done: number, of: number) => void {
  const { stderr } = process;
  if (quiet) return () => undefined;
  return (stage, done, of) => {
    if (stderr.isTTY) stderr.write(`\r${stage} ${done} of ${of}\u001b[K${done === of ? "\n" : ""}`);
    else if (done === of) stderr.write(`${stage}: ${of} done\n`);
  };
}

async function alignSetting(align: string): Promise<"auto" | "off" | { text: string; file: string }> {
  if (align === "auto" || align === "off") return align;
  try {
    return { text: await readFile(align, "utf8"), file: align };
  } catch (cause) {
    throw new UserError(`${align}: cannot be read`, { exitCode: 3, remedy: "--align takes auto, off, or an alignment.json", cause });
  }
}

/** Errors of the layers below, with the exit code of the command's contract. */
function mended(error: unknown): unknown {
  if (error instanceof StackError)
    return new UserError(error.message, {
      exitCode: error.code === "metadata" ? 5 : 3,
      remedy: error.remedy,
      cause: error,
    });
  if (error instanceof AlignmentError)
    return new UserError(error.message, { exitCode: 4, remedy: "use --align off if the frames are aligned already", cause: error });
  return error;
}

function workingSize(text: string): number | "full" {
  if (text === "full") return text;
  const side = Number(text);
  if (!Number.isInteger(side) || side < 64) throw new InvalidArgumentError("a whole number of pixels, 64 or more, or full");
  return side;
}

function outputNames(text: string): readonly OutputName[] {
  return text.split(",").map((name) => {
    const known = OUTPUT_NAMES.find((each) => each === name.trim());
    if (!known) throw new InvalidArgumentError(`"${name}" is none of ${OUTPUT_NAMES.join(", ")}`);
    return known;
  });
}
