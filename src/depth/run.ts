import type { AlignedStack } from "../align/align.ts";
import type { Alignment } from "../align/alignment.ts";
import type { StackReport } from "../check/checkStack.ts";
import { hasFocusChange, type Finding } from "../check/finding.ts";
import { inOrder, type PlaneOrder } from "../check/planeOrder.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import { withMaps, type DepthResult } from "../output/result.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import { inFocusOrder, type StackSource } from "../stack/stackSource.ts";
import type { Preference } from "./allInFocus/prior.ts";
import { createStackFusion, type CreateStackFusion } from "./allInFocus/stackFusion.ts";
import { estimateDepth, type DepthEstimate } from "./estimate.ts";
import type { FilledDepth } from "./fill.ts";
import { finishDepth } from "./finish.ts";
import {
  alignFrames,
  estimateFrames,
  frameAlignment,
  hasKnownOrder,
  inspectFrames,
  knownOrder,
  placedImages,
  sortedStack,
} from "./frames.ts";
import { fullSize } from "./fullSize.ts";
import type { OnStage } from "./progress.ts";
import { readWorking, wellSized } from "./working.ts";

export interface DepthRunOptions {
  readonly network: DepthNetwork;
  /** Longer side of the images the network sees, in pixels; "auto" (default): 768, or more where planes differ by too little blur. */
  readonly workingSide?: number | "auto";
  /** "off", "auto" (default), or one saved by an earlier run, in pixels of the files. */
  readonly align?: "auto" | "off" | Alignment;
  /** The stack check of these images with this alignment, where it was made before; else it is made. */
  readonly inspection?: StackReport | undefined;
  /** Exchanges near and far where no focus distances give the order. Default: false. */
  readonly reverse?: boolean;
  /** Finish the depth: move its edges to those of the image, fill plain areas, smooth its grain. Default: true. */
  readonly fill?: boolean;
  /** Which side wins in the all-in-focus image at edges that are seen through: the object or what lies behind it. Default: the sharper one. */
  readonly prefer?: Preference | undefined;
  /** Free the network's memory once it has been used, before the result is brought to full size. Default: false. */
  readonly disposeNetwork?: boolean | undefined;
  /** Called with how many of its steps a stage has done. */
  readonly onStage?: OnStage;
  /** Called with the findings of the stack check, as soon as they are known, and with the order of the planes. */
  readonly onFindings?: (findings: readonly Finding[], order: PlaneOrder) => void;
  /** Stops the run at its next step. */
  readonly signal?: AbortSignal;
}

const DEFAULTS = {
  workingSide: "auto",
  align: "auto",
  reverse: false,
  fill: true,
  onStage: () => undefined,
  onFindings: () => undefined,
} as const satisfies Omit<DepthRunOptions, "network">;

export interface DepthRun {
  readonly result: DepthResult;
  /** In working size, as measured: its depth is not finished. */
  readonly estimate: DepthEstimate;
  /** The source, its planes from near to far as they were used. */
  readonly source: StackSource;
  /** Which image was taken as the nearest, and why. */
  readonly order: PlaneOrder;
  /** The finished depth and where it is filled, in working size; undefined if `fill` was off. */
  readonly finished: FilledDepth | undefined;
  /** What the network saw: the images in working size, aligned. */
  readonly stack: FocalStack;
  readonly aligned: AlignedStack | undefined;
  /** Planes that could be aligned, of the source's. */
  readonly planes: readonly number[];
  readonly findings: readonly Finding[];
  readonly seconds: Readonly<Record<"load" | "check" | "align" | "infer" | "fill" | "enlarge", number>>;
}

/** From files to maps in full size: images in working size through alignment and network, then in full size one by one. */
export const runDepth = (source: StackSource, options: DepthRunOptions): Promise<DepthRun> =>
  runDepthWith(createStackFusion, source, options);

/** The same with another way to compute the all-in-focus image in full size, for instance in several threads. */
export async function runDepthWith(createFusion: CreateStackFusion, given: StackSource, chosen: DepthRunOptions): Promise<DepthRun> {
  const options = { ...DEFAULTS, signal: new AbortController().signal, ...chosen };
  const { network, onStage, signal } = options;
  if (options.reverse && hasKnownOrder(given)) throw knownOrder(given);
  const clock = createStopwatch();
  const { source, order, aligned, stack, findings, seconds } = await prepared(given, options, clock);
  const planes = aligned?.planes ?? source.files.map((_, n) => n);

  const onProgress = (done: number, of: number): void => {
    onStage("infer", done, of);
  };
  const estimated = await estimateDepth(stack, { network, signal, onProgress });
  if (options.disposeNetwork) await network.dispose();
  const focusChange = hasFocusChange(findings);
  const estimate = focusChange ? estimated : withoutEvidence(estimated, stack);
  const infer = clock();

  const finished = options.fill ? finishedDepth(estimate, { aligned, focusChange, onStage }) : undefined;
  const fill = clock();

  const { prefer } = options;
  const result = await fullSize(source, { estimate, focusChange, finished, aligned, planes, prefer, createFusion, onStage, signal });
  return {
    result,
    estimate,
    finished,
    source,
    order,
    stack,
    aligned,
    planes,
    findings,
    seconds: { ...seconds, infer, fill, enlarge: clock() },
  };
}

/** Without a change of focus there is nothing to finish. */
function finishedDepth(
  estimate: DepthEstimate,
  {
    aligned,
    focusChange,
    onStage,
  }: { readonly aligned: AlignedStack | undefined; readonly focusChange: boolean; readonly onStage: OnStage },
): FilledDepth {
  if (!focusChange) return { depth: estimate.depth, filled: new Uint8Array(estimate.depth.values.length) };
  onStage("fill", 0, 1);
  const finished = finishDepth(estimate, aligned?.valid);
  onStage("fill", 1, 1);
  return finished;
}

type Prepared = Pick<DepthRun, "source" | "order" | "aligned" | "stack" | "findings"> & {
  readonly seconds: Pick<DepthRun["seconds"], "load" | "align" | "check">;
};

type Preparing = DepthRunOptions & Required<Pick<DepthRunOptions, keyof typeof DEFAULTS | "signal">>;

/** The stack as the network sees it, checked. The images before their alignment are freed when this returns. */
async function prepared(given: StackSource, options: Preparing, clock: () => number): Promise<Prepared> {
  const working = await readWorking(given, options);
  const load = clock();
  const { source, order, findings, sorted, how, align } = await inFocusSequence(working, given, options, clock);
  const first = how && (await alignFrames(sorted, source, how));
  const { aligned, stack } = await wellSized({ aligned: first, stack: first?.stack ?? sorted, read: sorted }, source, options);
  return { source, order, aligned, stack, findings, seconds: { load, check: clock(), align } };
}

type Sequence = Pick<DepthRun, "source" | "order" | "findings"> & {
  /** The images in this order, before their alignment. */
  readonly sorted: FocalStack;
  /** Their alignment, and the images as it places them where they are known. */
  readonly how: Parameters<typeof alignFrames>[2] | undefined;
  /** Seconds. */
  readonly align: number;
};

/** The images from near to far, and how to align them. What the stack check saw aligned in another order is freed when this returns. */
async function inFocusSequence(working: FocalStack, given: StackSource, options: Preparing, clock: () => number): Promise<Sequence> {
  const { align: alignment, reverse, onStage, onFindings, signal } = options;
  const alignedBy = alignment === "off" ? undefined : await frameAlignment(working, given, { align: alignment, onStage, signal });
  const placed = alignedBy && placedImages(working, alignedBy);
  const align = clock();

  const inspect = (): Promise<StackReport> =>
    inspectFrames(working, given, { alignment: alignedBy, aligned: placed, reverse, onStage, signal });
  const { order, findings } = options.inspection ?? (await inspect());
  onFindings(findings, order);
  const source = inFocusOrder(given, order.planes);
  const sorted = sortedStack(working, order);
  // Neighbours in focus align best: once the frames are sorted, they are compared again.
  const inFocus = order.sorted && alignment === "auto" ? await estimateFrames(sorted, source, { onStage, signal }) : undefined;
  if (inFocus) return { source, order, findings, sorted, how: { alignment: inFocus, aligned: undefined }, align };
  // Noise and plain areas cannot be aligned, and need not be: they are used as they are.
  const isUsed = hasFocusChange(findings) || alignedBy?.frames.every(({ ok }) => ok) === true;
  const how =
    alignedBy && isUsed
      ? { alignment: inOrder(alignedBy, order.planes), aligned: order.planes.map((plane) => placed?.[plane]) }
      : undefined;
  return { source, order, findings, sorted, how, align };
}

/** What a network makes of images that are all alike is its prior, not a measurement: anywhere within the planes, with nothing around to fill it from. */
function withoutEvidence(estimate: DepthEstimate, { focusDistances }: FocalStack): DepthEstimate {
  const halfRange = Math.abs((focusDistances.at(-1) as number) - (focusDistances[0] as number)) / 2;
  return withMaps(estimate, {
    error: estimate.error.map(() => halfRange),
    confidence: estimate.confidence.map(() => 0),
    unfounded: estimate.unfounded.map(() => 0),
    beyond: estimate.beyond.map(() => 0),
  });
}

/** Seconds since it was last asked. */
function createStopwatch(): () => number {
  let last = performance.now();
  return () => {
    const seconds = (performance.now() - last) / 1000;
    last = performance.now();
    return seconds;
  };
}
