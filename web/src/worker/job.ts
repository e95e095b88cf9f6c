import { reorderAlignment, resizeAlignment, type Alignment } from "../../../src/align/alignment.ts";
import type { StackReport } from "../../../src/check/checkStack.ts";
import { hasFocusChange } from "../../../src/check/finding.ts";
import type { PlaneOrder } from "../../../src/check/planeOrder.ts";
import { describeRun } from "../../../src/depth/document.ts";
import { estimateFrames, inFileOrder, inspectFrames, savedAlignment, sortedStack } from "../../../src/depth/frames.ts";
import { runDepth, type DepthRun, type DepthRunOptions } from "../../../src/depth/run.ts";
import { readWorking, workingPixels } from "../../../src/depth/working.ts";
import type { Listing } from "../../../src/stack/listing.ts";
import type { StackFiles } from "../../../src/stack/stackFiles.ts";
import { openListing, type OpenOptions, type StackSource } from "../../../src/stack/stackSource.ts";
import type { FocalStack } from "../../../src/stack/focalStack.ts";
import type { Image } from "../../../src/image/image.ts";
import { cachedSource, type ImageCache } from "./cachedSource.ts";
import type { NetworkEngine } from "./engine.ts";
import { figuresOf } from "./figures.ts";
import { listUserFiles } from "./listing.ts";
import type { Calls, CheckAnswer, Event, Figures, FocusChoice, OpenedStack, RunResult } from "./protocol.ts";
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
  readonly id: number;
  /** The file of every image, in the order of their names. */
  readonly names: readonly string[];
  readonly listing: Listing;
  readonly files: StackFiles;
  readonly cache: ImageCache;
  /** Images the page has a thumbnail of. */
  readonly shown: Set<number>;
  readonly source: StackSource;
  /** As the check found it, in pixels of the files; a run does not estimate it again. */
  readonly alignment?: Alignment | undefined;
  /** What the check found, for a run that aligns or does not align as it did. */
  readonly inspection?: (StackReport & { readonly align: boolean }) | undefined;
  /** Which image is the nearest, as soon as a check or a run knows it. */
  readonly order: Announcement<PlaneOrder>;
}

/** A value that some wait for and another announces. */
interface Announcement<T> {
  readonly value: Promise<T>;
  readonly announce: (value: T) => void;
}

function announcement<T>(): Announcement<T> {
  let announce: (value: T) => void = () => undefined;
  const value = new Promise<T>((resolve) => {
    announce = resolve;
  });
  return { value, announce };
}

/** What remains of a run, for the views of its result. */
export interface FinishedJob {
  /** Of the job; undefined if it was restored and its files are gone. */
  readonly id: number | undefined;
  /** Its images, near to far; all of them, even those that could not be aligned. */
  readonly frames: readonly number[];
  /** What the network saw. */
  readonly stack: FocalStack;
  /** Intermediate fields, if the stack fitted one run of the network. */
  readonly figures: Figures | undefined;
}

let opened = 0;

/**
 * Rejects once it is cancelled, so that the caller keeps the job it has. `present` is the signal of the call that is answered at a time: later
 * calls read the same files.
 */
export async function openJob(
  { name, files: given, notes, focus }: Calls["open"]["ask"],
  { signal, onEvent }: Caller,
  present: () => AbortSignal | undefined = () => signal,
): Promise<Job> {
  const listed = await listUserFiles(name, given);
  const listing = { ...listed, notes: [...notes, ...listed.notes] };
  let done = 0;
  const onProbed = (): void => {
    onEvent({ kind: "stage", stage: "open", done: (done += 1), of: listing.files.length });
    signal.throwIfAborted();
  };
  const files = userFiles(given, { onProbed, signal: present });
  const cache: ImageCache = new Map();
  const source = cachedSource(await openListing(listing, files), cache);
  const names: string[] = [];
  source.frames.forEach((frame, plane) => {
    names[frame] = source.files[plane] as string;
  });
  const job: Job = { id: (opened += 1), names, listing, files, cache, shown: new Set(), source, order: announcement() };
  const ordered = focus ? await refocusJob(job, focus) : job;
  signal.throwIfAborted();
  return ordered;
}

/** The same images with other focus distances, in another order, or some of them only. The alignment stays where it can. */
export async function refocusJob(job: Job, focus: FocusChoice): Promise<Job> {
  const { id, names, listing, files, cache, shown, alignment } = job;
  const source = await openListing(listing, files, openOptions(focus, names.length));
  const order = source.frames.map((frame) => job.source.frames.indexOf(frame));
  const kept = alignment && reorderAlignment(alignment, order);
  return { id, names, listing, files, cache, shown, source: cachedSource(source, cache), alignment: kept, order: announcement() };
}

function openOptions({ unit, values, order, leftOut = [] }: FocusChoice, images: number): OpenOptions {
  const frames = Array.from({ length: images }, (_, frame) => frame).filter((frame) => !leftOut.includes(frame));
  const distances = values ? frames.map((frame) => values[frame] as number) : order && frames.map((frame) => order.indexOf(frame)); // an image's place is its plane index
  return { unit, leaveOut: leftOut, ...(distances ? { distances } : {}) };
}

export function describeJob({ id, names, source }: Job): OpenedStack {
  return {
    id,
    leftOut: names.flatMap((file, frame) => (source.frames.includes(frame) ? [] : [{ file, frame }])),
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

/** The findings of the stack check, which with the alignment are there for the run that follows. */
export async function checkJob(job: Job, align: boolean, caller: Caller): Promise<{ job: Job; answer: CheckAnswer }> {
  const source = withThumbnails(job, caller);
  const options = stages(caller);
  const working = await readWorking(source, { ...options, workingSide: "auto" }).catch(async (error: unknown) => {
    await readOthers(source, caller);
    throw error;
  });
  const known = job.alignment && resizeAlignment(job.alignment, working.images[0] as Image);
  const small = align ? (known ?? (await estimateFrames(working, source, options))) : undefined;
  const report = await inspectFrames(working, source, { ...options, alignment: small });
  const { findings, order } = report;
  job.order.announce(order);
  // As in a run without a check: frames that had to be sorted are compared again, since neighbours in focus align best.
  const inFocus =
    small && !known && order.sorted ? inFileOrder(await estimateFrames(sortedStack(working, order), source, options), order) : small;
  const alignment = job.alignment ?? (inFocus && resizeAlignment(inFocus, source.size));
  return { job: { ...job, alignment, inspection: { ...report, align } }, answer: { findings, order } };
}

/** Where an image cannot be read, the others get their thumbnails all the same, and are there when it has been left out. */
async function readOthers(source: StackSource, { signal }: Caller): Promise<void> {
  for (const plane of source.files.keys())
    if (!signal.aborted) await source.readScaled(plane, workingPixels(source.size)).catch(() => undefined);
}

/** What `dualfocus depth` does, on the user's files. */
export async function runJob(
  job: Job,
  { align, engine, caller }: { align: boolean; engine: NetworkEngine; caller: Caller },
): Promise<{ finished: FinishedJob; result: RunResult }> {
  const begin = performance.now();
  const source = withThumbnails(job, caller);
  const run = await runDepth(source, {
    network: engine.network,
    workingSide: "auto",
    align: align ? (job.alignment ?? "auto") : "off",
    inspection: job.inspection?.align === align ? job.inspection : undefined,
    onFindings: (_, order) => {
      job.order.announce(order);
    },
    ...stages(caller, source.frames.every((frame) => job.cache.has(frame)) ? source.files.length : 0),
  });
  const seconds = { model: engine.seconds, ...run.seconds, total: (performance.now() - begin) / 1000 };
  const summary = describeRun(run, {
    model: "small",
    network: { ...engine.network, reason: engine.info.reason },
    align: align ? "auto" : "off",
    seconds,
  });
  return {
    finished: { id: job.id, frames: run.source.frames, stack: run.stack, figures: figuresOf(run.estimate.probability) },
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
    focusChange: hasFocusChange(run.findings),
  };
}

/** Reports the steps of a run, but for the images that have been `read` before: those cost nothing. */
function stages({ signal, onEvent }: Caller, read = 0): Required<Pick<DepthRunOptions, "signal" | "onStage">> {
  let known = read;
  return {
    signal,
    onStage: (stage, done, of) => {
      if (stage === "read" && known > 0) known -= 1;
      else onEvent({ kind: "stage", stage, done, of });
    },
  };
}

/** Sends a small copy of every image the first time it is read. */
export function withThumbnails({ id, source, shown }: Job, { onEvent }: Pick<Caller, "onEvent">): StackSource {
  return {
    ...source,
    readScaled: async (plane, ...how) => {
      const image = await source.readScaled(plane, ...how);
      const frame = source.frames[plane] as number;
      if (!shown.has(frame)) {
        shown.add(frame);
        const { profile } = await source.readMetadata(plane);
        onEvent({ kind: "thumbnail", stack: id, frame, picture: await thumbnail(image, profile) });
      }
      return image;
    },
  };
}
