import { alignStack, alignImage, type AlignedStack } from "../align/align.ts";
import { formatAlignment, parseAlignment, type Alignment } from "../align/alignment.ts";
import { createBlender } from "../infer/blend.ts";
import { estimateDepth, type DepthEstimate } from "../infer/estimateDepth.ts";
import type { Session } from "../infer/session.ts";
import { enlarge, guidedEnlarge } from "../infer/upsample.ts";
import type { Image } from "../image.ts";
import type { DepthResult, DepthUnit } from "../output/result.ts";
import type { StackSource } from "../source/openStack.ts";
import type { FocalStack } from "../stack.ts";

export interface DepthRunOptions {
  readonly session: Session;
  /** Longer side of the pictures the network sees, in pixels. */
  readonly workingSide: number;
  /** "off", "auto", or a saved alignment as text. */
  readonly align: "auto" | "off" | { readonly text: string; readonly file: string };
  readonly onStage: (stage: "read" | "align" | "infer" | "enlarge", done: number, of: number) => void;
  readonly signal: AbortSignal;
}

export interface DepthRun {
  readonly result: DepthResult;
  readonly estimate: DepthEstimate;
  readonly aligned: AlignedStack | undefined;
  /** Planes that could be aligned, of the source's. */
  readonly planes: readonly number[];
  readonly seconds: Readonly<Record<"load" | "align" | "infer", number>>;
}

/** From files to maps in full size: working-size pictures through alignment and network, then full-size ones one by one. */
export async function runDepth(source: StackSource, options: DepthRunOptions): Promise<DepthRun> {
  const clock = createStopwatch();
  const working = await readWorking(source, options);
  const load = clock();
  const aligned = options.align === "off" ? undefined : await alignStack(working, alignOptions(options, source));
  const stack = aligned?.stack ?? working;
  const planes = aligned?.planes ?? source.files.map((_, n) => n);
  const align = clock();
  const estimate = await estimateDepth(stack, {
    session: options.session,
    signal: options.signal,
    onProgress: (done, of) => {
      options.onStage("infer", done, of);
    },
  });
  const allInFocus = await fullPicture(source, { options, estimate, aligned, planes });
  return {
    result: fullResult(source, { estimate, allInFocus, aligned }),
    estimate,
    aligned,
    planes,
    seconds: { load, align, infer: clock() },
  };
}

function createStopwatch(): () => number {
  let last = performance.now();
  return () => {
    const seconds = (performance.now() - last) / 1000;
    last = performance.now();
    return seconds;
  };
}

async function readWorking(source: StackSource, { workingSide, onStage, signal }: DepthRunOptions): Promise<FocalStack> {
  const { width, height } = source.size;
  const factor = Math.min(1, workingSide / Math.max(width, height));
  const images: Image[] = [];
  for (const plane of source.files.keys()) {
    signal.throwIfAborted();
    images.push(await source.readScaled(plane, width * height * factor ** 2));
    onStage("read", plane + 1, source.files.length);
  }
  return { images, focusDistances: source.focusDistances, space: source.space };
}

function alignOptions({ align, signal, onStage }: DepthRunOptions, { camera }: StackSource) {
  return {
    signal,
    ...(camera ? { focalLength: camera.focalLength } : {}),
    ...(typeof align === "object" ? { alignment: parseAlignment(align.text, align.file) } : {}),
    onProgress: (share: number) => {
      onStage("align", Math.round(100 * share), 100);
    },
  };
}

interface FullPicture {
  readonly options: DepthRunOptions;
  readonly estimate: DepthEstimate;
  readonly aligned: AlignedStack | undefined;
  readonly planes: readonly number[];
}

/** The all-in-focus picture in full size; only one plane and the sum are in memory. */
async function fullPicture(source: StackSource, { options, estimate, aligned, planes }: FullPicture): Promise<Image> {
  const { width } = estimate.allInFocus;
  if (width === source.size.width) return estimate.allInFocus;
  const blender = createBlender({ ...source.size, channels: source.channels }, estimate.probability);
  const factor = source.size.width / width;
  for (const [n, plane] of planes.entries()) {
    options.signal.throwIfAborted();
    const picture = await source.readPlane(plane);
    const frame = aligned?.report[plane];
    const [x, y] = frame?.transform.shift ?? [0, 0];
    const placed = frame ? { ...frame, transform: { ...frame.transform, shift: [x * factor, y * factor] as const } } : undefined;
    blender.add(placed ? alignImage(picture, placed) : picture, n);
    options.onStage("enlarge", n + 1, planes.length);
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
  const depth = same ? estimate.depth.values : guidedEnlarge({ ...small, values: estimate.depth.values }, { small, guide: allInFocus });
  const covered = aligned ? grown(Float32Array.from(aligned.valid)) : undefined;
  const { planes, values: data } = estimate.probability;
  return {
    depth: {
      width,
      height,
      values: depth,
      valid: covered ? Uint8Array.from(covered, (share) => (share > 0.999 ? 1 : 0)) : new Uint8Array(width * height).fill(1),
      space: source.space,
    },
    unit: unitOf(source),
    confidence: grown(estimate.confidence),
    allInFocus,
    bits: source.bits,
    planeIndex: same ? estimate.planeIndex : nearest(estimate.planeIndex, small, source.size),
    probability: { planes, width: small.width, height: small.height, data },
    ...(source.camera ? { camera: source.camera } : {}),
    ...(source.pixelSize === undefined ? {} : { pixelSize: source.pixelSize }),
  };
}

const unitOf = ({ space, unit }: StackSource): DepthUnit =>
  space === "depth" ? "m" : space === "index" ? "index" : unit === "dpt" ? "dpt" : "disparity";

function nearest(values: Uint16Array, from: { width: number; height: number }, to: { width: number; height: number }): Uint16Array {
  const out = new Uint16Array(to.width * to.height);
  for (let y = 0; y < to.height; y++) {
    const row = Math.floor(((y + 0.5) * from.height) / to.height) * from.width;
    for (let x = 0; x < to.width; x++) out[y * to.width + x] = values[row + Math.floor(((x + 0.5) * from.width) / to.width)] as number;
  }
  return out;
}

/** The alignment that was found, to be used again with `--align FILE`. */
export const savedAlignment = ({ alignment }: AlignedStack): string => formatAlignment(alignment satisfies Alignment);
