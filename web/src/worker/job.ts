import { resizeAlignment, type Alignment } from "../../../src/align/alignment.ts";
import type { Finding } from "../../../src/check/finding.ts";
import { describeRun } from "../../../src/depth/document.ts";
import { estimateFrames, inspectFrames, savedAlignment } from "../../../src/depth/frames.ts";
import { runDepth, type DepthRun, type DepthRunOptions } from "../../../src/depth/run.ts";
import { readWorking } from "../../../src/depth/working.ts";
import type { FocusOptions } from "../../../src/stack/focus.ts";
import type { Listing } from "../../../src/stack/listing.ts";
import type { StackFiles } from "../../../src/stack/stackFiles.ts";
import { openListing, type StackSource } from "../../../src/stack/stackSource.ts";
import type { FocalStack } from "../../../src/stack/focalStack.ts";
import { cachedSource, type ImageCache } from "./cachedSource.ts";
import type { NetworkEngine } from "./engine.ts";
import { figuresOf } from "./figures.ts";
import { listUserFiles } from "./listing.ts";
import type { Calls, Event, Figures, FocusChoice, OpenedStack, RunResult } from "./protocol.ts";
import { sharpnessMaps } from "./sharpness.ts";
import { thumbnail } from "./thumbnail.ts";
import { userFiles } from "./userFiles.ts";

/** Who asked, and how to tell them something meanwhile. */
export interface Caller {
  readonly signal: AbortSignal;
  readonly onEvent: (event: Event) => void;
}

/** The stack the page is working on. */
export interface Job {
  readonly listing: Listing;
  readonly files: StackFiles;
  readonly cache: ImageCache;
  /** Pictures the page has got a thumbnail of. */
  readonly shown: Set<number>;
  readonly source: StackSource;
  /** As the check found it, in pixels of the files; a run need not look again. */
  readonly alignment?: Alignment;
  /** What the network saw in the last run. */
  readonly stack?: FocalStack;
  /** What it found on its way, where that was one run of it. */
  readonly figures?: Figures | undefined;
}

export async function openJob({ name, files: given, focus }: Calls["open"]["ask"], { onEvent }: Caller): Promise<Job> {
  const listing = await listUserFiles(name, given);
  let done = 0;
  const files = userFiles(given, () => {
    onEvent({ kind: "stage", stage: "open", done: (done += 1), of: listing.files.length });
  });
  const cache: ImageCache = new Map();
  const source = cachedSource(await openListing(listing, files, focus ? focusOptions(focus) : {}), cache);
  return { listing, files, cache, shown: new Set(), source };
}

/** The same pictures with other focus distances: another order, perhaps. */
export async function refocusJob(job: Job, focus: FocusChoice): Promise<Job> {
  const { listing, files, cache, shown } = job;
  const source = await openListing(listing, files, focusOptions(focus));
  return { listing, files, cache, shown, source: cachedSource(source, cache) };
}

const focusOptions = ({ unit, values }: FocusChoice): FocusOptions => ({ unit, ...(values ? { distances: values } : {}) });

export function describeJob({ source }: Job): OpenedStack {
  return {
    name: source.name,
    planes: source.files.map((file, plane) => ({
      file,
      frame: source.frames[plane] as number,
      value: source.focus[plane]?.value as number,
      source: source.focus[plane]?.source ?? "file order",
    })),
    unit: source.unit,
    ...source.size,
    notes: source.notes,
  };
}

/** The capture doctor's findings; with `align`, also the alignment for the run that follows. */
export async function checkJob(job: Job, align: boolean, caller: Caller): Promise<{ job: Job; findings: readonly Finding[] }> {
  const source = withThumbnails(job, caller);
  const options = stages(caller);
  const working = await readWorking(source, { ...options, workingSide: "auto" });
  const small = align ? await estimateFrames(working, source, options) : undefined;
  const { findings } = await inspectFrames(working, source, { ...options, alignment: small });
  return { job: small ? { ...job, alignment: resizeAlignment(small, source.size) } : job, findings };
}

/** What `dualfocus depth` does, on the user's files. */
export async function runJob(
  job: Job,
  { align, engine, caller }: { align: boolean; engine: NetworkEngine; caller: Caller },
): Promise<{ job: Job; result: RunResult }> {
  const begin = performance.now();
  const source = withThumbnails(job, caller);
  const run = await runDepth(source, {
    network: engine.network,
    workingSide: "auto",
    align: align ? (job.alignment ?? "auto") : "off",
    onFindings: () => undefined,
    ...stages(caller),
  });
  const seconds = { model: engine.seconds, ...run.seconds, total: (performance.now() - begin) / 1000 };
  const summary = describeRun(run, {
    model: "small",
    network: { ...engine.network, reason: engine.info.reason },
    align: "auto",
    seconds,
  });
  return {
    job: { ...job, stack: run.stack, figures: figuresOf(run.estimate.probability) },
    result: { ...resultOf(run, summary), engine: engine.info },
  };
}

function resultOf(run: DepthRun, summary: ReturnType<typeof describeRun>): Omit<RunResult, "engine"> {
  const { source, result, aligned, stack } = run;
  return {
    name: source.name,
    result: { ...result }, // maps that are made when asked for are made now
    planes: run.planes.map((plane) => ({
      file: source.files[plane] as string,
      frame: source.frames[plane] as number,
      ...(source.focus[plane] as StackSource["focus"][number]),
    })),
    focusDistances: stack.focusDistances,
    sharpness: sharpnessMaps(stack.images),
    ...(aligned ? { alignmentJson: savedAlignment({ aligned, order: run.order }, source.size) } : {}),
    summary: { ...summary },
    findings: run.findings,
  };
}

const stages = ({ signal, onEvent }: Caller): Required<Pick<DepthRunOptions, "signal" | "onStage">> => ({
  signal,
  onStage: (stage, done, of) => {
    onEvent({ kind: "stage", stage, done, of });
  },
});

/** Sends a small copy of every picture the first time it is read. */
function withThumbnails({ source, shown }: Job, { onEvent }: Caller): StackSource {
  return {
    ...source,
    readScaled: async (plane, maxPixels) => {
      const image = await source.readScaled(plane, maxPixels);
      const frame = source.frames[plane] as number;
      if (!shown.has(frame)) {
        shown.add(frame);
        onEvent({ kind: "thumbnail", frame, picture: await thumbnail(image) });
      }
      return image;
    },
  };
}
