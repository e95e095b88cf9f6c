import { Command, Option } from "commander";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { depthSettings, MODEL_NAMES, type DepthSettings } from "../depth/settings.ts";
import { defaultOutput, placed } from "../depth/node/stackRun.ts";
import { UserError } from "../system/userError.ts";
import { fillFolder } from "../system/outputFolder.ts";
import { DualFocusError } from "../errors.ts";
import { OUTPUT_NAMES, type OutputName } from "../output/outputs.ts";
import { jobPrefix, type Job } from "../queue/job.ts";
import { openStore } from "../queue/openStore.ts";
import { hasEnded, type JobQueue, type JobStatus } from "../queue/queue.ts";
import { readResults, type JobResult } from "../queue/results.ts";
import { checkDistances, downloadResults, stackJob, uploadStack } from "../queue/stackJob.ts";
import { withRedisQueue } from "../queue/redisQueue.ts";
import type { FileStore } from "../queue/store.ts";
import { listStack } from "../stack/node/openStack.ts";
import { wholeNumber } from "./arguments.ts";
import type { Preference } from "../depth/allInFocus/prior.ts";
import { fillOption, preferOption, reverseOption, savedHelp, saveOption, sizeOption, unitOption } from "./depthOptions.ts";
import { failed, finished, reportBatch, stackFolders, type BatchEntry } from "./depthResults.ts";
import { stoppable } from "./stop.ts";

interface BatchOptions {
  readonly redis: string;
  readonly store: string;
  readonly output?: string;
  readonly distances?: string;
  readonly unit?: DepthSettings["unit"];
  readonly model: DepthSettings["model"];
  readonly align: DepthSettings["align"];
  readonly reverse: boolean;
  readonly fill: "on" | "off";
  readonly prefer?: Preference;
  readonly size: DepthSettings["size"];
  readonly save: readonly OutputName[];
  readonly ahead: number;
  readonly force: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

export function batchCommand(): Command {
  return new Command("batch")
    .argument("<folder>", "holds one sub-folder for each stack")
    .addOption(new Option("--redis <URL>", "address of the queue").env("DUALFOCUS_REDIS").makeOptionMandatory())
    .addOption(
      new Option("--store <PLACE>", "where files are exchanged: a directory that the workers share, or s3://bucket/prefix")
        .env("DUALFOCUS_STORE")
        .makeOptionMandatory(),
    )
    .option("-o, --output <DIR>", "folder for the results (default: NAME-depth in the current folder)")
    .option(
      "--distances <LIST>",
      "focus distances of every stack, separated by commas, in the order of the file names; or the first and the step (150mm+0.1mm)",
    )
    .addOption(unitOption())
    .addOption(new Option("--model <NAME>", "network").choices(MODEL_NAMES).default("small"))
    .addOption(new Option("--align <auto|off>", "align the frames").choices(["auto", "off"]).default("auto"))
    .addOption(reverseOption())
    .addOption(sizeOption())
    .addOption(saveOption(OUTPUT_NAMES))
    .addOption(fillOption())
    .addOption(preferOption())
    .option("--ahead <N>", "stacks in the queue at the same time", wholeNumber(1), 64)
    .option("--force", "compute again what is finished", false)
    .option("--json", "print the table as one JSON document", false)
    .option("--quiet", "no progress", false)
    .addHelpText("after", savedHelp(OUTPUT_NAMES))
    .action(batch);
}

interface Run {
  readonly options: BatchOptions;
  readonly settings: DepthSettings;
  readonly store: FileStore;
  readonly queue: JobQueue;
  readonly signal: AbortSignal;
}

async function batch(folder: string, options: BatchOptions): Promise<void> {
  const names = await stackFolders(folder);
  const root = options.output ?? defaultOutput(folder);
  const { distances, unit, model, align, reverse, size, save, fill, prefer } = options;
  const settings = depthSettings.safeParse({ distances, unit, model, align, reverse, size, save, fill, prefer });
  if (!settings.success)
    throw new UserError(settings.error.issues.map(({ message }) => message).join("; "), { exitCode: 2, remedy: "correct the option" });
  await checkSomeDistances(
    names.map((name) => join(folder, name)),
    settings.data,
  );
  const store = await openStore(options.store);
  const body = async (queue: JobQueue, signal: AbortSignal): Promise<void> => {
    await queue.ping();
    const run = { options, settings: settings.data, store, queue, signal };
    let ended = 0;
    const entries = await inParallel(names, options.ahead, async (name) => {
      const entry = await attempt({ folder: join(folder, name), name, output: join(root, name) }, run);
      ended += 1;
      if (!options.quiet) process.stderr.write(`${name} (${ended} of ${names.length}): ${describe(entry)}\n`);
      return entry;
    });
    reportBatch(entries, options);
  };
  const words = { reason: "stopped; what was sent is still computed", remedy: "run the command again to collect it" };
  await stoppable((signal) => withRedisQueue(options.redis, (queue) => body(queue, signal)), words);
}

/** One error if none of the stacks can have these distances; if some can, the others fail by themselves. */
async function checkSomeDistances(folders: readonly string[], settings: DepthSettings): Promise<void> {
  let refused: DualFocusError | undefined;
  for (const folder of folders) {
    const listing = await listStack([folder]).catch(() => undefined); // reported with its entry
    if (!listing) continue;
    try {
      checkDistances(listing, settings);
      return;
    } catch (error) {
      if (!(error instanceof DualFocusError)) throw error;
      refused ??= error;
    }
  }
  if (refused) throw refused;
}

const describe = ({ status, error }: BatchEntry): string => (status === "skipped" ? "finished earlier" : (error?.message ?? status));

/** At most `most` at the same time, results in the order of `items`. */
async function inParallel<T, R>(items: readonly T[], most: number, body: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const next = items.entries(); // shared: each takes the next one
  const take = async (): Promise<void> => {
    for (const [n, item] of next) results[n] = await body(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, take));
  return results;
}

interface Place {
  readonly folder: string;
  readonly name: string;
  readonly output: string;
}

async function attempt({ folder, name, output }: Place, run: Run): Promise<BatchEntry> {
  const { options, settings, store, queue, signal } = run;
  signal.throwIfAborted();
  const before = options.force ? undefined : await finished(output);
  if (before) return { name, status: "skipped", output, result: before };
  try {
    const prepared = await stackJob(folder, settings);
    const { id } = prepared.job;
    const results = (await readResults(store, id)) ?? (await compute(prepared.job, run, () => uploadStack(store, prepared)));
    await fillFolder(output, options, (temporary) => downloadResults(store, results, temporary));
    await patiently(signal, () => queue.remove(id));
    await store.remove(jobPrefix(id));
    const files = Object.fromEntries(Object.entries(results.document.files).map(([key, file]) => [key, basename(file)]));
    return { name, status: "done", output, result: { ...results.document, files: placed(files, output) } };
  } catch (failure) {
    signal.throwIfAborted();
    return failed({ name, output }, failure);
  }
}

/** Submits the job, unless it is in the queue already, and waits for its results. */
async function compute(job: Job, { queue, store, signal }: Run, upload: () => Promise<void>): Promise<JobResult> {
  await upload();
  if ((await patiently(signal, () => queue.get(job.id)))?.state === "failed") await patiently(signal, () => queue.remove(job.id));
  await patiently(signal, () => queue.submit(job));
  const status = await patiently(signal, () => lastStatus(queue, job.id, signal));
  signal.throwIfAborted();
  const results = await readResults(store, job.id);
  if (results) return results;
  if (!status?.error) throw new UserError(`the job is ${status?.state ?? "gone"}`, { exitCode: 3, remedy: "run the command again" });
  throw new DualFocusError(status.error.code, status.error.message, status.error);
}

async function lastStatus(queue: JobQueue, id: string, signal: AbortSignal): Promise<JobStatus | undefined> {
  let last: JobStatus | undefined;
  for await (const status of queue.subscribe(id, { signal })) if (hasEnded((last = status))) break;
  return last;
}

/** Waits for a Redis that is away for a while, for instance while it restarts. */
async function patiently<T>(signal: AbortSignal, body: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await body();
    } catch (cause) {
      const isAway =
        cause instanceof Error &&
        /MaxRetriesPerRequest|ECONNREFUSED|ECONNRESET|Connection is closed|LOADING/.test(`${cause.name} ${cause.message}`);
      if (!isAway || signal.aborted) throw cause;
      await setTimeout(1000, undefined, { signal });
    }
  }
}
