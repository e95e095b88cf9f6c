import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Command, Option } from "commander";

import { readDepth } from "../data/readDepth.ts";
import { readImage, readText } from "../stack/node/diskFiles.ts";
import { type SynthesisKernel, type SynthesisRecord, synthesize } from "../optics/synthesize/synthesize.ts";
import { CAMERA_PRESETS, type CameraPreset, presetCamera } from "../optics/synthesize/cameras.ts";
import type { FocusProtocol } from "../optics/synthesize/focus.ts";
import { orderPlanes, parseStackJson, type Camera } from "../stack/stackFormat.ts";
import { UserError } from "../system/userError.ts";
import { fillFolder } from "../system/outputFolder.ts";
import { packageVersion } from "../system/packageFolder.ts";
import { listOf, positiveNumber, wholeNumber } from "./arguments.ts";
import { writeJson, writeStack } from "./writeStack.ts";

interface SynthesizeOptions {
  readonly output: string;
  readonly camera?: CameraPreset;
  readonly fNumber?: number;
  readonly focalLengthMm?: number;
  readonly pixelPitchUm?: number;
  readonly planes?: number;
  readonly focus?: readonly number[];
  readonly protocol?: "linear" | "adaptive";
  readonly kernel: SynthesisKernel["kind"];
  readonly exponent?: number;
  readonly depthScale?: number;
  readonly force: boolean;
  readonly json: boolean;
  /** The camera that a folder states. */
  readonly rendered?: Camera;
}

export function synthesizeCommand(): Command {
  return new Command("synthesize")
    .argument("<image|folder>", "the sharp image, or a folder that render made: its image, depth, camera and focus distances")
    .argument("[depth]", "the image's depth: npy, tif, exr or pfm in metres, or 16-bit png in millimetres; 0 is unknown")
    .requiredOption("-o, --output <DIR>", "folder for plane_*.png, stack.json, depth.npy, aif.png and synthesis.json")
    .addOption(
      new Option("--camera <NAME>", "nyu (default): f/8 50 mm 12 µm; arkit: f/0.5 2.9 mm 5.5 µm; fossa: f/1.4 31 mm, 36 mm sensor").choices(
        CAMERA_PRESETS,
      ),
    )
    .option("--f-number <N>", "instead of the camera's", positiveNumber)
    .option("--focal-length-mm <MM>", "instead of the camera's", positiveNumber)
    .option("--pixel-pitch-um <UM>", "instead of the camera's", positiveNumber)
    .option("--planes <N>", "number of planes (default: 5)", wholeNumber(2))
    .option("--focus <LIST>", "focus distances in metres, separated by commas, instead of a protocol", listOf(positiveNumber))
    .addOption(
      new Option(
        "--protocol <NAME>",
        "linear: evenly spaced from least to greatest depth (default); adaptive: evenly spaced in 1/depth between its 5 % and 95 % quantiles",
      ).choices(["linear", "adaptive"]),
    )
    .addOption(
      new Option("--kernel <NAME>", "gaussian: HybridDepth's 7×7; power: FOSSA's 15×15; disk: a disk with occlusion")
        .choices(["gaussian", "power", "disk"])
        .default("gaussian"),
    )
    .option("--exponent <P>", "of the power kernel, from 2 (Gaussian) to 32 (nearly a disk); default 2", positiveNumber)
    .option("--depth-scale <S>", "metres per unit of the depth file (default: 0.001 for integers, 1 for floats)", positiveNumber)
    .option("--force", "replace files in an output folder that is not empty", false)
    .option("--json", "print the result as JSON", false)
    .action(runSynthesize);
}

async function runSynthesize(input: string, depthFile: string | undefined, given: SynthesizeOptions): Promise<void> {
  const started = performance.now();
  const { image, depth, ...own } = await sharpSource(input, depthFile, given);
  const options = { ...given, ...own };
  const source = { image, depth, ...(options.depthScale === undefined ? {} : { depthScale: options.depthScale }) };
  const asked = { source, focus: focusProtocol(options), kernel: kernelOf(options) };
  const kept = await earlierRecord(options, asked);
  const record = kept ?? (await fillFolder(options.output, options, (folder) => synthesizeInto(folder, options, asked)));
  report(options, { record, kept: kept !== undefined, seconds: (performance.now() - started) / 1000 });
}

interface SharpSource {
  readonly image: string;
  readonly depth: string;
  readonly focus?: readonly number[];
  readonly rendered?: Camera;
}

/** An image and its depth, or what `render` wrote; options go before what the folder says. */
async function sharpSource(input: string, depth: string | undefined, given: SynthesizeOptions): Promise<SharpSource> {
  if (depth !== undefined) return { image: input, depth };
  if (!(await stat(input).catch(() => undefined))?.isDirectory())
    throw new UserError(`${input}: its depth is missing`, {
      exitCode: 2,
      remedy: "give an image and its depth, or a folder that render made",
    });
  const made = parseStackJson(await readText(join(input, "stack.json")), join(input, "stack.json"));
  const { focusDistances } = orderPlanes(made.focus.map((value) => ({ file: input, value, source: "stack.json" as const })), made.unit); // prettier-ignore
  const choosesPlanes = [given.focus, given.planes, given.protocol].some((option) => option !== undefined);
  return {
    image: join(input, "aif.png"),
    depth: join(input, "depth.npy"),
    ...(choosesPlanes ? {} : { focus: focusDistances }),
    ...(made.camera && given.camera === undefined ? { rendered: made.camera } : {}),
  };
}

interface Asked {
  readonly source: { readonly image: string; readonly depth: string; readonly depthScale?: number };
  readonly focus: FocusProtocol;
  readonly kernel: SynthesisKernel;
}

/** synthesis.json. */
type WrittenRecord = SynthesisRecord & Pick<Asked, "source"> & { readonly producer: string };

async function synthesizeInto(folder: string, options: SynthesizeOptions, { source, focus, kernel }: Asked): Promise<WrittenRecord> {
  const image = await readImage(source.image);
  const depth = await readDepth(source.depth, "depth", source.depthScale === undefined ? {} : { scale: source.depthScale });
  if (image.width !== depth.width || image.height !== depth.height)
    throw new UserError(`${source.image} is ${image.width}×${image.height} but ${source.depth} is ${depth.width}×${depth.height}`, {
      exitCode: 3,
      remedy: "they must match pixel by pixel; resize one of them first",
    });
  const camera = cameraOf(options, image);
  const { stack, record } = blurred(() => synthesize({ image, depth }, { camera, focus, kernel, onPlane: reportPlane }), source.depth);
  await writeStack(folder, { stack, camera, allInFocus: image, depth });
  const written = { producer: `dualfocus ${packageVersion()}`, source, ...record };
  await writeJson(join(folder, RECORD), written);
  return written;
}

const RECORD = "synthesis.json";

/** The record of an earlier run with the same options whose sources have not changed since: an interrupted series continues from there. */
async function earlierRecord(options: SynthesizeOptions, asked: Asked): Promise<WrittenRecord | undefined> {
  const file = join(options.output, RECORD);
  const text = options.force ? undefined : await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const record = JSON.parse(text) as WrittenRecord;
  const before = [record.source, record.focus, record.camera, record.kernel];
  const same = isDeepStrictEqual(before, [asked.source, asked.focus, cameraOf(options, record), { ...record.kernel, ...asked.kernel }]);
  const [written, image, depth] = await Promise.all([file, asked.source.image, asked.source.depth].map(changedAt));
  return same && Math.max(image ?? Infinity, depth ?? Infinity) <= (written ?? 0) ? record : undefined;
}

/** Milliseconds; undefined if there is no such file. */
const changedAt = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

/** What the optics refuse is bad input: the depth, or the distances asked for. */
function blurred<T>(work: () => T, depthFile: string): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UserError(`${depthFile}: ${cause.message}`, { exitCode: 3, remedy: "check --depth-scale, --focus and the camera", cause });
  }
}

function reportPlane(done: number, planes: number): void {
  process.stderr.write(`synthesize: plane ${done} of ${planes}\n`);
}

interface Outcome {
  readonly record: WrittenRecord;
  readonly kept: boolean;
  readonly seconds: number;
}

function report({ output, json }: SynthesizeOptions, { record, kept, seconds }: Outcome): void {
  const metres = record.focusDistances.map((distance) => distance.toFixed(3)).join(", ");
  const text = `${output}: ${record.focusDistances.length} planes of ${record.width}×${record.height}, focused at ${metres} m`;
  process.stdout.write(`${json ? JSON.stringify({ output, ...record, kept, seconds }) : `${text}${kept ? ", finished earlier" : ""}`}\n`);
}

function focusProtocol({ focus, planes, protocol }: SynthesizeOptions): FocusProtocol {
  if (focus?.length === 1) throw new UserError("--focus: a stack has two or more planes", { exitCode: 2, remedy: "give more distances" });
  if (focus && (planes !== undefined || protocol !== undefined))
    throw new UserError("--focus already says how many planes there are and where", {
      exitCode: 2,
      remedy: "leave out --planes and --protocol",
    });
  return focus ? { kind: "explicit", distances: focus } : { kind: protocol ?? "linear", planes: planes ?? 5 };
}

function kernelOf({ kernel, exponent }: SynthesizeOptions): SynthesisKernel {
  if (exponent !== undefined && kernel !== "power")
    throw new UserError(`--exponent belongs to the power kernel, not to ${kernel}`, { exitCode: 2, remedy: "add --kernel power" });
  return kernel === "power" ? { kind: kernel, exponent: exponent ?? 2 } : { kind: kernel };
}

function cameraOf(options: SynthesizeOptions, size: { width: number; height: number }): Camera {
  const { camera = "nyu", rendered, fNumber, focalLengthMm, pixelPitchUm } = options;
  const preset = rendered ?? presetCamera(camera, size);
  return {
    focalLength: focalLengthMm === undefined ? preset.focalLength : focalLengthMm / 1e3,
    fNumber: fNumber ?? preset.fNumber,
    pixelPitch: pixelPitchUm === undefined ? preset.pixelPitch : pixelPitchUm / 1e6,
  };
}
