import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";

import type { Finding } from "../check/finding.ts";
import { depthOfStack, type RunReport, type StackOptions, type StackRun } from "../depth/node/stackRun.ts";
import { DualFocusError } from "../errors.ts";
import { needsOnlyCpu, type DeviceName } from "../network/node/devices.ts";
import { failed, finished, reportBatch, type BatchEntry } from "./depthResults.ts";
import { createLane, type Lane } from "./depthLane.ts";
import { findingRemedy } from "./words.ts";

/** The options of `dualfocus depth`. */
export interface DepthOptions extends StackOptions {
  readonly output?: string;
  readonly device: DeviceName;
  readonly truth?: string;
  readonly threads: number;
  readonly batch: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

export interface Run extends Pick<StackRun, "network" | "signal"> {
  readonly options: DepthOptions;
}

/** A stack of several. */
export interface Place {
  readonly folder: string;
  readonly name: string;
  readonly output: string;
}

/** Each place as a stack of its own. Finished results are kept; a stack that fails does not stop the others. */
export async function depthOfFolders(
  places: readonly Place[],
  run: Run,
  createReport: (options: { readonly quiet: boolean }) => RunReport,
): Promise<void> {
  const { options, signal } = run;
  const say = (text: string): void => {
    if (!options.quiet) process.stderr.write(`${text}\n`);
  };
  const entries = new Map<Place, BatchEntry>();
  for (const place of options.force ? [] : places) {
    const { name, output } = place;
    const result = await finished(output);
    if (result) entries.set(place, { name, status: "skipped", output, result });
  }
  const waiting = places.filter((place) => !entries.has(place));
  if (entries.size > 0) say(`${entries.size} of ${places.length} finished earlier`);
  let done = entries.size;
  const end = (place: Place, entry: BatchEntry): void => {
    entries.set(place, entry);
    done += 1;
    const { name, error } = entry;
    if (error) process.stderr.write(`${name}: ${error.message}\n${error.remedy === undefined ? "" : `  ${error.remedy}\n`}`);
  };

  const lanes = await laneCount(waiting.length, options);
  if (lanes > 1) say(`device: cpu, ${lanes} stacks at a time`);
  const alone = lanes < 2 ? waiting : await inLanes(waiting, { lanes, run, end: (place, entry) => {
    end(place, entry);
    if (entry.status === "done") say(`${place.name}: done (${done} of ${places.length})`);
  } }); // prettier-ignore
  for (const place of alone) {
    signal.throwIfAborted();
    say(`${place.name} (${done + 1} of ${places.length})`);
    end(place, (await attempt(place, { ...run, report: createReport(options) })).entry);
  }
  reportBatch(places.map((place) => entries.get(place) as BatchEntry), options); // prettier-ignore
}

export interface Attempt {
  readonly entry: BatchEntry;
  /** Whether the stack needs more memory than there was for it. */
  readonly isTooLarge: boolean;
}

/** One stack of several; only a failure that nobody foresaw, or a stop, is thrown. */
export async function attempt(
  { folder, name, output }: Place,
  { options, ...run }: Run & Pick<StackRun, "report" | "memory">,
): Promise<Attempt> {
  const { truth, threads } = options;
  try {
    const inputs = { inputs: [folder], output, ...(truth === undefined ? {} : { truth: join(folder, truth) }) };
    const { document: result } = await depthOfStack({ ...run, options, threads, ...inputs });
    return { entry: { name, status: "done", output, result }, isTooLarge: false };
  } catch (failure) {
    run.signal.throwIfAborted();
    return {
      entry: failed({ name, output }, failure),
      isTooLarge: failure instanceof DualFocusError && (failure.code === "image-too-large" || failure.code === "memory-limit"),
    };
  }
}

/** Bytes that a process takes for its network and a stack of usual size. */
const LANE_MEMORY = 2 ** 31;

/** Memory for all stacks together. */
const memory = (): number => 0.9 * Math.min(totalmem(), process.constrainedMemory() || Infinity);

/**
 * How many stacks are computed at once, each in a process of its own: while one is read or written, which keeps one core busy, another one's
 * network runs. Not on a GPU, which one stack keeps busy.
 */
async function laneCount(stacks: number, { device, threads }: DepthOptions): Promise<number> {
  const most = Math.min(stacks, threads === 0 ? availableParallelism() : threads, Math.floor(memory() / LANE_MEMORY));
  return most > 1 && (await needsOnlyCpu(device)) ? most : 1;
}

interface Lanes {
  readonly lanes: number;
  readonly run: Run;
  readonly end: (place: Place, entry: BatchEntry) => void;
}

/** Computes the stacks; those that need more memory than the share of a process are left for later and returned. */
async function inLanes(places: readonly Place[], { lanes, run: { options, signal }, end }: Lanes): Promise<Place[]> {
  const threads = Math.max(1, Math.floor((options.threads === 0 ? availableParallelism() : options.threads) / lanes));
  const waiting = [...places];
  const tooLarge: Place[] = [];
  const work = async (): Promise<void> => {
    let lane: Lane | undefined;
    try {
      for (let place = waiting.shift(); place; place = waiting.shift()) {
        signal.throwIfAborted();
        if (!lane?.isOpen) lane = createLane({ ...options, threads }, { memory: memory() / lanes, signal });
        const { entry, isTooLarge } = await lane.run(place);
        if (isTooLarge) tooLarge.push(place);
        else end(place, entry);
      }
    } finally {
      waiting.length = 0; // after a failure that nobody foresaw the other processes start nothing more
      await lane?.close();
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, work));
  const broken = ends.find((end) => end.status === "rejected");
  if (broken) throw broken.reason;
  return tooLarge;
}

/**
 * What the stack check found, on standard error. Its errors are warnings here, as they do not stop the run: what is blank is left out or gets
 * confidence 0, and where depth cannot be computed the run fails with a message of its own.
 */
export function warn(findings: readonly Finding[]): void {
  for (const finding of findings)
    if (finding.severity !== "note") process.stderr.write(`warning: ${finding.message}\n  ${findingRemedy(finding)}\n`);
}
