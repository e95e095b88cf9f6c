import type { AlignedStack } from "../align/align.ts";
import type { Alignment } from "../align/alignment.ts";
import type { Finding } from "../check/finding.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import type { DepthResult } from "../output/result.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import type { StackSource } from "../stack/stackSource.ts";
import { estimateDepth, type DepthEstimate } from "./estimate.ts";
import { alignFrames, checkFrames } from "./frames.ts";
import { fullSize } from "./fullSize.ts";
import type { OnStage } from "./progress.ts";
import { readWorking, wellSized } from "./working.ts";

export interface DepthRunOptions {
  readonly network: DepthNetwork;
  /** Longer side of the images the network sees, in pixels; "auto" (default): 768, or more where planes differ by too little blur. */
  readonly workingSide?: number | "auto";
  /** "off", "auto" (default), or one saved by an earlier run, in pixels of the files. */
  readonly align?: "auto" | "off" | Alignment;
  /** Called with how many of its steps a stage has done. */
  readonly onStage?: OnStage;
  /** Called with the findings of the stack check, as soon as they are known. */
  readonly onFindings?: (findings: readonly Finding[]) => void;
  /** Stops the run at its next step. */
  readonly signal?: AbortSignal;
}

const DEFAULTS = {
  workingSide: "auto",
  align: "auto",
  onStage: () => undefined,
  onFindings: () => undefined,
} as const satisfies Omit<DepthRunOptions, "network">;

export interface DepthRun {
  readonly result: DepthResult;
  readonly estimate: DepthEstimate;
  /** What the network saw: the images in working size, aligned. */
  readonly stack: FocalStack;
  readonly aligned: AlignedStack | undefined;
  /** Planes that could be aligned, of the source's. */
  readonly planes: readonly number[];
  readonly findings: readonly Finding[];
  readonly seconds: Readonly<Record<"load" | "check" | "align" | "infer" | "enlarge", number>>;
}

/** From files to maps in full size: images in working size through alignment and network, then in full size one by one. */
export async function runDepth(source: StackSource, given: DepthRunOptions): Promise<DepthRun> {
  const options = { ...DEFAULTS, signal: new AbortController().signal, ...given };
  const { network, align: alignment, onStage, onFindings, signal } = options;
  const clock = createStopwatch();

  const working = await readWorking(source, options);
  const load = clock();

  const first = alignment === "off" ? undefined : await alignFrames(working, source, { align: alignment, onStage, signal });
  const align = clock();

  const findings = await checkFrames(working, source, { alignment: first?.alignment, onStage, signal });
  onFindings(findings);
  const { aligned, stack } = await wellSized({ aligned: first, stack: first?.stack ?? working }, source, options);
  const planes = aligned?.planes ?? source.files.map((_, n) => n);
  const check = clock();

  const onProgress = (done: number, of: number): void => {
    onStage("infer", done, of);
  };
  const estimate = await estimateDepth(stack, { network, signal, onProgress });
  const infer = clock();

  const result = await fullSize(source, { estimate, aligned, planes, onStage, signal });
  return { result, estimate, stack, aligned, planes, findings, seconds: { load, check, align, infer, enlarge: clock() } };
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
