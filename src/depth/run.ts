import { alignedRows, alignStack, type AlignedStack } from "../align/align.ts";
import { AlignmentError, formatAlignment, resizeAlignment, type Alignment } from "../align/alignment.ts";
import { estimateAlignment } from "../align/estimate.ts";
import { imageRows } from "../image/rows.ts";
import { resized } from "../align/similarity.ts";
import { workingFrame } from "../align/workingFrame.ts";
import { checkStack } from "../check/checkStack.ts";
import type { Finding } from "../check/finding.ts";
import { resizeNearest } from "../image/resize.ts";
import { createBlender } from "./blend.ts";
import { estimateDepth, type DepthEstimate, type EstimateOptions } from "./estimateDepth.ts";
import { UNCALIBRATED, type ErrorTable } from "../network/facts.ts";
import { enlarge, guidedEnlarge } from "../image/upsample.ts";
import type { Image } from "../image/image.ts";
import { baseName } from "../stack/stackFormat.ts";
import type { DepthResult, DepthUnit } from "../output/result.ts";
import type { Size } from "../image/image.ts";
import type { StackSource } from "../stack/stackSource.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import { WORKING_SIDE } from "./options.ts";
import type { OnStage } from "./progress.ts";
import { enlargedTo, goodEnlargement } from "./workingSize.ts";

export interface DepthRunOptions extends Pick<EstimateOptions, "session" | "stages" | "average"> {
  /** Error calibration of the network in use, see `NetworkFacts`. */
  readonly errorTable?: ErrorTable;
  /** Longer side of the pictures the network sees, in pixels; "auto" (default): 768, or more where planes differ by too little blur. */
  readonly workingSide?: number | "auto";
  /** "off", "auto" (default), or one saved by an earlier run, in pixels of the files. */
  readonly align?: "auto" | "off" | Alignment;
  /** Told how many of its steps a stage has done. */
  readonly onStage?: OnStage;
  /** Told what the capture doctor found, as soon as it is known. */
  readonly onFindings?: (findings: readonly Finding[]) => void;
  /** Stops the run at its next step. */
  readonly signal?: AbortSignal;
}

type RunSettings = Required<Omit<DepthRunOptions, "stages" | "average">> & Pick<DepthRunOptions, "stages" | "average">;

const withDefaults = (options: DepthRunOptions): RunSettings => ({
  errorTable: UNCALIBRATED,
  workingSide: "auto",
  align: "auto",
  onStage: () => undefined,
  onFindings: () => undefined,
  signal: new AbortController().signal,
  ...options,
});

export interface DepthRun {
  readonly result: DepthResult;
  readonly estimate: DepthEstimate;
  /** What the network saw: the pictures in working size, aligned. */
  readonly stack: FocalStack;
  readonly aligned: AlignedStack | undefined;
  /** Planes that could be aligned, of the source's. */
  readonly planes: readonly number[];
  readonly findings: readonly Finding[];
  readonly seconds: Readonly<Record<"load" | "check" | "align" | "infer" | "enlarge", number>>;
}

/** From files to maps in full size: working-size pictures through alignment and network, then full-size ones one by one. */
export async function runDepth(source: StackSource, given: DepthRunOptions): Promise<DepthRun> {
  const options = withDefaults(given);
  const clock = createStopwatch();
  const working = await readWorking(source, options);
  const load = clock();
  const first = options.align === "off" ? undefined : await alignWorking(working, { source, options });
  const align = clock();
  const findings = await examine(working, { source, options, alignment: first?.alignment });
  const { aligned, stack } = await wellSized({ aligned: first, stack: first?.stack ?? working }, { source, options });
  const check = clock();
  const planes = aligned?.planes ?? source.files.map((_, n) => n);
  const estimate = await estimateDepth(stack, {
    session: options.session,
    stages: options.stages,
    errorTable: options.errorTable,
    average: options.average,
    signal: options.signal,
    onProgress: (done, of) => {
      options.onStage("infer", done, of);
    },
  });
  const infer = clock();
  const allInFocus = await fullPicture(source, { options, estimate, aligned, planes });
  const result = fullResult(source, { estimate, allInFocus, aligned });
  if (allInFocus !== estimate.allInFocus) options.onStage("enlarge", planes.length + 1, planes.length + 1);
  return { result, estimate, stack, aligned, planes, findings, seconds: { load, check, align, infer, enlarge: clock() } };
}

function createStopwatch(): () => number {
  let last = performance.now();
  return () => {
    const seconds = (performance.now() - last) / 1000;
    last = performance.now();
    return seconds;
  };
}

/** A panorama's shorter side is kept this long, else nothing would be left of it. */
const LEAST_SIDE = 32;

/** The pictures in the size the network sees them in. */
export async function readWorking(
  source: StackSource,
  { workingSide, onStage, signal }: Pick<RunSettings, "workingSide" | "onStage" | "signal">,
): Promise<FocalStack> {
  const { width, height } = source.size;
  const side = workingSide === "auto" ? WORKING_SIDE : workingSide;
  const factor = Math.min(1, Math.max(side / Math.max(width, height), LEAST_SIDE / Math.min(width, height)));
  const images: Image[] = [];
  for (const plane of source.files.keys()) {
    signal.throwIfAborted();
    images.push(await source.readScaled(plane, width * height * factor ** 2));
    onStage("read", plane + 1, source.files.length);
  }
  return { images, focusDistances: source.focusDistances, space: source.space };
}

interface Working {
  readonly aligned: AlignedStack | undefined;
  readonly stack: FocalStack;
}

/** The same stack, read anew in a larger size where its planes differ by too little blur for the network to see. */
async function wellSized(
  { aligned, stack }: Working,
  { source, options }: { source: StackSource; options: RunSettings },
): Promise<Working> {
  const enlargement = options.workingSide === "auto" ? goodEnlargement(stack) : 1;
  if (enlargement === 1) return { aligned, stack };
  const [{ width, height }] = stack.images as [Image];
  const size = { width: Math.round(width * enlargement), height: Math.round(height * enlargement) };
  const read = await readWorking(source, { ...options, workingSide: Math.max(size.width, size.height) });
  const larger = { ...read, images: read.images.map((image) => enlargedTo(image, size)) };
  if (!aligned) return { aligned, stack: larger };
  const again = await alignStack(larger, { alignment: resizeAlignment(aligned.alignment, larger.images[0] as Image) });
  return { aligned: again, stack: again.stack };
}

interface Context {
  readonly source: StackSource;
  readonly options: Pick<RunSettings, "align" | "onStage" | "onFindings" | "signal">;
}

async function alignWorking(stack: FocalStack, { source, options }: Context): Promise<AlignedStack> {
  const { align } = options;
  const alignment =
    typeof align === "object" ? resizeAlignment(align, stack.images[0] as Image) : await estimateFrames(stack, { source, options });
  try {
    return await alignStack(stack, { alignment });
  } catch (error) {
    throw error instanceof AlignmentError ? new AlignmentError(`${source.name}: ${error.message}`, { cause: error }) : error;
  }
}

/** How the pictures, in working size, lie to one another. */
export const estimateFrames = (stack: FocalStack, { source, options: { signal, onStage } }: Context): Promise<Alignment> =>
  estimateAlignment(
    stack.images.map((image) => workingFrame(image)),
    {
      ...stack,
      ...(source.camera ? { focalLength: source.camera.focalLength } : {}),
      signal,
      onProgress: (share: number) => {
        onStage("align", Math.round(100 * share), 100);
      },
    },
  );

/** The capture doctor's opinion of the pictures as they are, in the files' names and pixels. */
export async function examine(
  stack: FocalStack,
  { source, options, alignment }: Context & { alignment: Alignment | undefined },
): Promise<Finding[]> {
  const findings = await checkStack(stack, {
    files: planeNames(source),
    focalLength: source.camera?.focalLength,
    enlargement: source.size.width / (stack.images[0] as Image).width,
    alignment,
    signal: options.signal,
  });
  options.onStage("check", 1, 1);
  options.onFindings(findings);
  return findings;
}

/** File names without their folder; pages of one file are told apart by their number. */
function planeNames({ files }: StackSource): string[] {
  const single = new Set(files).size === 1;
  return files.map((file, plane) => (single ? `${baseName(file)} plane ${plane}` : baseName(file)));
}

interface FullPicture {
  readonly options: RunSettings;
  readonly estimate: DepthEstimate;
  readonly aligned: AlignedStack | undefined;
  readonly planes: readonly number[];
}

/** The all-in-focus picture in full size; in memory are the sum, one plane, and the next while it is decoded beside the work on this one. */
async function fullPicture(source: StackSource, { options, estimate, aligned, planes }: FullPicture): Promise<Image> {
  const { width } = estimate.allInFocus;
  if (width === source.size.width) return estimate.allInFocus;
  const blender = createBlender({ ...source.size, channels: source.channels }, estimate.probability);
  const factor = source.size.width / width;
  const read = (n: number): Promise<Image> | undefined => {
    const plane = planes[n];
    const reading = plane === undefined ? undefined : source.readPlane(plane);
    reading?.catch(() => undefined); // told where it is waited for, unless the run has been stopped before
    return reading;
  };
  let next = read(0);
  for (const [n, plane] of planes.entries()) {
    options.signal.throwIfAborted();
    const picture = (await next) as Image;
    next = read(n + 1);
    const frame = aligned?.report[plane];
    const rows = frame ? alignedRows(picture, { ...frame, transform: resized(frame.transform, factor) }) : imageRows(picture);
    blender.add(rows, n);
    options.onStage("enlarge", n + 1, planes.length + 1); // the last step is the maps'
  }
  return blender.finish();
}

function fullResult(
  source: StackSource,
  { estimate, allInFocus, aligned }: { estimate: DepthEstimate; allInFocus: Image; aligned: AlignedStack | undefined },
): DepthResult {
  const { width, height } = source.size;
  const small = estimate.allInFocus;
  const same = small.width === width && small.height === height;
  const grown = (values: Float32Array): Float32Array => (same ? values : enlarge({ ...small, values }, source.size));
  const { values } = estimate.depth;
  const depth = small.width < width ? guidedEnlarge({ ...small, values }, { small, guide: allInFocus }) : grown(values);
  const { planes, values: data } = estimate.probability;
  return {
    depth: {
      width,
      height,
      values: depth,
      valid: aligned ? covered(grown(Float32Array.from(aligned.valid))) : new Uint8Array(width * height).fill(1),
      space: source.space,
    },
    unit: unitOf(source),
    // Full-size maps that may never be saved are made when they are read.
    get confidence() {
      return grown(estimate.confidence);
    },
    get error() {
      return grown(estimate.error);
    },
    get beyond() {
      return same
        ? estimate.beyond
        : resizeNearest({ ...small, data: estimate.beyond }, { ...source.size, into: new Int8Array(width * height) });
    },
    get planeIndex() {
      const into = new Uint16Array(same ? 0 : width * height);
      return same ? estimate.planeIndex : resizeNearest({ ...small, data: estimate.planeIndex }, { ...source.size, into });
    },
    allInFocus,
    bits: source.bits,
    probability: { planes, width: small.width, height: small.height, data },
    ...(source.camera ? { camera: source.camera } : {}),
    ...(source.pixelSize === undefined ? {} : { pixelSize: source.pixelSize }),
  };
}

/** 1 where the share of frames with a picture is all of them. */
function covered(shares: Float32Array): Uint8Array {
  const valid = new Uint8Array(shares.length);
  for (let i = 0; i < shares.length; i++) valid[i] = (shares[i] as number) > 0.999 ? 1 : 0;
  return valid;
}

const unitOf = ({ space, unit }: StackSource): DepthUnit =>
  space === "depth" ? "m" : space === "index" ? "index" : unit === "dpt" ? "dpt" : "disparity";

/** The alignment that was used, in pixels of the files, for `--align FILE`. */
export const savedAlignment = ({ alignment }: AlignedStack, size: Size): string => formatAlignment(resizeAlignment(alignment, size));
