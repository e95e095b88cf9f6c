import { readFile } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { constants, deflate as compress } from "node:zlib";

import { checkFits, parseAlignment, type Alignment } from "../../align/alignment.ts";
import { hasFocusChange, type Finding } from "../../check/finding.ts";
import { DeviceLimitError } from "../../engine/errors.ts";
import { DualFocusError, firstLine } from "../../errors.ts";
import type { DepthMap } from "../../image/depthMap.ts";
import type { Size } from "../../image/image.ts";
import type { DepthNetwork } from "../../network/depthNetwork.ts";
import type { ColorMap } from "../../output/colorMap.ts";
import { JPEG_QUALITY } from "../../output/canvasJpeg.ts";
import { encodeOutputs, OUTPUT_FILES, type EncodeJpeg, type OutputName, type OutputOptions } from "../../output/outputs.ts";
import { validFraction, type DepthResult } from "../../output/result.ts";
import { encodeResultJson } from "../../output/resultJson.ts";
import { makeResultPage, type PageViewer } from "../../output/resultPage.ts";
import { LEAST_CONFIDENCE, vouchedOnly } from "../../output/trust.ts";
import { withStack, type StackSource } from "../../stack/node/openStack.ts";
import type { Unit } from "../../stack/stackFormat.ts";
import type { CreateStackFusion } from "../allInFocus/stackFusion.ts";
import type { Preference } from "../allInFocus/prior.ts";
import { describeRun, type DepthDocument } from "../document.ts";
import { readingInput } from "../../system/errno.ts";
import type { OnStage } from "../progress.ts";
import { savedAlignment } from "../frames.ts";
import { runDepthWith, type DepthRun } from "../run.ts";
import { threadedFusion } from "./threadedFusion.ts";
import { compareWithTruth, readTruth, type TruthErrors } from "./truth.ts";
import { checkRoom, createFileWriter } from "../../system/diskRoom.ts";
import { fillFolder } from "../../system/outputFolder.ts";
import { packageFolder, packageVersion } from "../../system/packageFolder.ts";

export type { DepthDocument } from "../document.ts";

/** Progress callbacks. */
export interface RunReport {
  /** What a person should know about the files: assumptions made, things ignored. */
  readonly onNote: (note: string) => void;
  readonly onStage: OnStage;
  readonly onFindings: (findings: readonly Finding[]) => void;
}

/** An output, or the whole result as one page to look at: `RESULT_PAGE`. */
export type SavedName = OutputName | "html";

export const RESULT_PAGE = "result.html";

export interface StackOptions {
  /** A list as text or the name of a file; or numbers, one for each image. */
  readonly distances?: string | readonly number[];
  readonly unit?: Unit;
  /** For the document. */
  readonly model: string;
  /** auto, off, or the alignment.json of an earlier run. */
  readonly align: string;
  /** Exchanges near and far where no focus distances give the order. */
  readonly reverse?: boolean | undefined;
  /** Longer side of what the network sees; "auto": `WORKING_SIDE`, or more if planes differ by too little blur. */
  readonly size: number | "full" | "auto";
  readonly save: readonly SavedName[];
  /** Finish the depth: move its edges to those of the image, fill plain areas, smooth its grain; default: on. */
  readonly fill?: "on" | "off" | undefined;
  /** Of color.png; default: turbo. */
  readonly colors?: ColorMap;
  /** Whether color.png has a legend below the image; default: false, so that it lies on the photo pixel by pixel. */
  readonly legend?: boolean;
  /** Which side wins in the all-in-focus image at edges that are seen through. */
  readonly prefer?: Preference | undefined;
  /** Replace what is in the output folder. */
  readonly force: boolean;
}

export interface StackRun {
  readonly inputs: readonly string[];
  readonly options: StackOptions;
  /** Called once the stack is known to be usable. */
  readonly network: () => Promise<DepthNetwork>;
  /** Whether the network is not needed afterwards. */
  readonly disposeNetwork?: boolean;
  /** Folder for the results; default: from the stack's name. */
  readonly output?: string;
  readonly truth?: string;
  /** Memory it may use, in bytes; default: 90 % of the machine's. */
  readonly memory?: number;
  /** For what is computed beside the network; 0: one per core. Default: 1. */
  readonly threads?: number;
  readonly report: RunReport;
  readonly signal: AbortSignal;
}

/** Opens a stack, estimates its depth and writes all results or none. The paths in `files` include the output folder. */
export function depthOfStack(run: StackRun): Promise<{ document: DepthDocument; folder: string }> {
  const start = performance.now();
  const { inputs, options, report, signal } = run;
  const onProgress = (done: number, of: number): void => {
    report.onStage("frames", done, of);
  };
  const given = {
    ...(options.distances === undefined ? {} : { distances: options.distances }),
    ...(options.unit === undefined ? {} : { unit: options.unit }),
  };
  return withStack(inputs, { ...given, signal, onProgress }, (source) => depthOfSource(source, { ...run, start }));
}

async function depthOfSource(
  source: StackSource,
  {
    options,
    network,
    disposeNetwork,
    output,
    truth,
    memory = 0.9 * totalmem(),
    threads = 1,
    report,
    signal,
    start,
  }: StackRun & { readonly start: number },
): Promise<{ document: DepthDocument; folder: string }> {
  source.notes.forEach(report.onNote);
  checkMemory(source, memory);
  const align = await alignSetting(options.align, source);
  const trueDepth = truth === undefined ? undefined : { file: truth, map: await readTruth(truth, { ...source.size, space: source.space }) };
  const folder = output ?? defaultOutput(source.name);
  const viewer = options.save.includes("html") ? await readViewer() : undefined; // before the work, in case that it is missing
  const summary = await fillFolder(folder, options, async (temporary) => {
    await checkRoom(temporary, leastBytes(source.size, options.save));
    const before = performance.now();
    const opened = await network();
    const model = (performance.now() - before) / 1000;
    opened.notes.forEach(report.onNote);
    const inThreads = threadedFusion({ threads: threads === 0 ? availableParallelism() : threads });
    const createFusion = opened.device === "cuda" ? await onCuda(inThreads) : inThreads;
    const run = await runDepthWith(createFusion, source, {
      network: opened,
      disposeNetwork,
      align,
      onStage: report.onStage,
      reverse: options.reverse ?? false,
      prefer: options.prefer,
      onFindings: report.onFindings,
      signal,
      fill: options.fill !== "off",
      workingSide: options.size === "full" ? Infinity : options.size,
    }).catch((cause: unknown) => {
      throw cause instanceof DeviceLimitError ? beyondDevice(opened.device, cause) : cause;
    });
    return writeResults(temporary, {
      source,
      run,
      options,
      network: opened,
      trueDepth,
      viewer,
      onStage: report.onStage,
      onNote: report.onNote,
      signal,
      model,
      start,
    });
  });
  return { document: { ...summary, files: placed(summary.files, folder) }, folder };
}

/** Such as: 'the device cuda cannot compute this stack: mul([7, 3, 448, 672], [3, 1, 1]): CUDA error: out of memory'. */
const beyondDevice = (device: string, cause: DeviceLimitError): DualFocusError =>
  new DualFocusError("device-unavailable", `the device ${device} cannot compute this stack: ${firstLine(cause)}`, {
    facts: { device },
    cause,
  });

/** Loaded only by those who have libtorch. */
async function onCuda(otherwise: CreateStackFusion): Promise<CreateStackFusion> {
  const [{ createTorchEngine }, { deviceFusion }] = await Promise.all([
    import("../../engine/torch/torchEngine.ts"),
    import("./device/deviceFusion.ts"),
  ]);
  return deviceFusion(createTorchEngine({ device: "cuda", trainingKernels: false }), otherwise);
}

export const defaultOutput = (name: string): string => `${basename(resolve(name)).replace(/\.[^.]*$/, "")}-depth`;

/** At the peak: the pyramid of the all-in-focus image, one plane before and after alignment, the maps. */
const BYTES_PER_PIXEL = 80;

/** Without this, the system would end the program on too large an image without a word. */
function checkMemory({ name, size: { width, height } }: StackSource, there: number): void {
  const needed = width * height * BYTES_PER_PIXEL;
  const gigabytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
  if (needed > there)
    throw new DualFocusError(
      "image-too-large",
      `${name}: ${width}×${height} pixels need about ${gigabytes(needed)} GB of memory; there are ${gigabytes(there)}`,
      { facts: { width, height } },
    );
}

/** Files of 32-bit floats that are not compressed. */
const FLOAT_MAPS: readonly SavedName[] = ["depth", "npy", "error"];

/** What these results take at least; how far the others can be compressed is not known before. */
const leastBytes = ({ width, height }: Size, save: readonly SavedName[]): number =>
  4 * width * height * save.filter((name) => FLOAT_MAPS.includes(name)).length;

async function alignSetting(align: string, { files, size, channels }: StackSource): Promise<"auto" | "off" | Alignment> {
  if (align === "auto" || align === "off") return align;
  const alignment = await readingInput(align, "bad-alignment-file", async () => parseAlignment(await readFile(align, "utf8"), align));
  await readingInput(align, "alignment-mismatch", () => {
    checkFits(alignment, { planes: files.length, ...size, channels }, align);
  });
  return alignment;
}

/** Script and style of the page, which come with the built web page. */
async function readViewer(): Promise<PageViewer> {
  const place = (ending: string): string => join(packageFolder(), "dist", "web", `viewer.${ending}`);
  try {
    return { script: await readFile(place("js"), "utf8"), style: await readFile(place("css"), "utf8") };
  } catch (cause) {
    throw new DualFocusError("page-not-built", `${place("js")}: the viewer of ${RESULT_PAGE} is missing`, { cause });
  }
}

interface Writing {
  readonly source: StackSource;
  readonly run: DepthRun;
  readonly options: StackOptions;
  readonly trueDepth: { readonly file: string; readonly map: DepthMap } | undefined;
  /** For the page, if one is to be written. */
  readonly viewer: PageViewer | undefined;
  readonly onStage: OnStage;
  readonly onNote: RunReport["onNote"];
  readonly signal: AbortSignal;
  readonly network: DepthNetwork;
  /** Seconds spent on opening it. */
  readonly model: number;
  readonly start: number;
}

const compressed = promisify(compress);

/**
 * zlib's third level: half the time of its usual sixth, files a few hundredths larger. Photos take a third of that without a search for
 * repeated parts, and about the same space.
 */
const deflate: NonNullable<OutputOptions["deflate"]> = (bytes, content) =>
  compressed(bytes, content === "photo" ? { level: 1, strategy: constants.Z_RLE } : { level: 3 });

const jpeg: EncodeJpeg = async ({ width, height, channels, data }) => {
  const { default: sharp } = await import("sharp"); // native code; loaded only by those who encode
  const options = { quality: 100 * JPEG_QUALITY, chromaSubsampling: "4:4:4" };
  return sharp(data, { raw: { width, height, channels } }).jpeg(options).toBuffer();
};

async function writeResults(folder: string, writing: Writing): Promise<DepthDocument> {
  const { source, run, options, trueDepth, viewer, onStage, onNote, signal } = writing;
  const before = performance.now();
  const files: Record<string, string> = {};
  const encoding: Record<string, object> = {};
  const { write, end } = createFileWriter(folder);
  const outputs = options.save.filter((name) => name !== "html").filter((name) => name !== "filled" || run.finished); // "all" asks for both
  const of = outputs.length + (viewer ? 1 : 0) + 1; // result.json comes last, whether or not there was a mesh to write
  let done = 0;
  for await (const { name, file, bytes, encoding: meaning } of encodeOutputs(run.result, outputs, {
    deflate,
    jpeg,
    colorMap: options.colors ?? "turbo",
    legend: options.legend ?? false,
  })) {
    await write(file, bytes);
    signal.throwIfAborted();
    files[name] = file;
    encoding[name] = meaning;
    onStage("write", (done += 1), of);
  }
  if (viewer) {
    await write(RESULT_PAGE, await pageOf(writing, viewer));
    files["html"] = RESULT_PAGE;
    onStage("write", done + 1, of);
  }
  if (run.aligned) {
    await write("alignment.json", savedAlignment({ aligned: run.aligned, order: run.order }, source.size));
    files["alignment"] = "alignment.json";
  }
  const notes = emptyModels(run.result, options.save);
  const errors = trueDepth && hasFocusChange(run.findings) && compareWithTruth(run.result.depth, trueDepth.map, trueDepth.file);
  const summary = describe(writing, { files, encoding, notes, write: (performance.now() - before) / 1000, ...(errors ? { errors } : {}) });
  await write("result.json", encodeResultJson({ ...summary }));
  await end();
  onStage("write", of, of);
  notes.forEach(onNote);
  return summary;
}

function pageOf({ source, run }: Writing, viewer: PageViewer): Promise<string> {
  const facts = {
    name: basename(resolve(source.name)),
    planes: run.planes.length,
    focusDistances: run.stack.focusDistances,
    focusChange: hasFocusChange(run.findings),
  };
  return makeResultPage(run.result, facts, { viewer, jpeg });
}

/** What there is to say about models in which nothing is left. */
function emptyModels(result: DepthResult, save: readonly SavedName[]): string[] {
  const models = (["ply", "glb"] as const).filter((name) => save.includes(name));
  if (models.length === 0 || validFraction(vouchedOnly(result).depth) > 0) return [];
  const words = { ply: "has no points", glb: "is not written" };
  return models.map((name) => `${OUTPUT_FILES[name]} ${words[name]}: no depth has a confidence of ${LEAST_CONFIDENCE} or more`);
}

interface Written {
  readonly files: Record<string, string>;
  readonly encoding: Record<string, object>;
  /** About the files. */
  readonly notes: readonly string[];
  /** Seconds. */
  readonly write: number;
  readonly errors?: TruthErrors;
}

function describe(writing: Writing, { files, encoding, notes, write, errors }: Written): DepthDocument {
  const { run, options, network, model, start } = writing;
  const seconds = { model, ...run.seconds, write, total: (performance.now() - start) / 1000 };
  const described = describeRun(run, { model: options.model, network, align: options.align, seconds });
  return {
    version: packageVersion(),
    ...described,
    size: options.size,
    notes: [...(described.notes ?? []), ...notes],
    files,
    encoding,
    ...(errors ? { errors } : {}),
  };
}

/** The same files with the folder they lie in. */
export const placed = (files: Readonly<Record<string, string>>, folder: string): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(folder, file)]));
