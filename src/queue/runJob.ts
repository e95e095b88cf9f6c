import { mkdir, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { randomUUID } from "node:crypto";

import { DualFocusError, ERRORS, reportOf } from "../errors.ts";
import { depthOfStack, type DepthDocument } from "../depth/node/stackRun.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import { withTemporaryFolder } from "../system/temporaryFolder.ts";
import { encodeResultJson } from "../output/resultJson.ts";
import { jobPrefix, type Job } from "./job.ts";
import { commitResults, readResults, type JobResult } from "./results.ts";
import type { RunOptions } from "./runner.ts";
import type { FileStore } from "./store.ts";

export interface JobPlace {
  readonly store: FileStore;
  /** Folder for files that are needed only while a job runs. */
  readonly scratch: string;
  readonly network: (model: string) => Promise<DepthNetwork>;
  /** Bytes a job may take; pictures that need more are refused before they are read. */
  readonly memory?: number;
  /** CPU threads. */
  readonly threads?: number;
}

/**
 * Computes one job as `dualfocus depth` would and leaves its results in the store. A run's files lie under a name of its own until one
 * line, written once, makes them the job's: however often a job is run, also at the same time, its results are those of one run.
 */
export async function runJob(job: Job, options: RunOptions, place: JobPlace): Promise<void> {
  if (await readResults(place.store, job.id)) return; // an earlier run came this far and could not report it
  await withTemporaryFolder(place.scratch, async (folder) => {
    try {
      await compute(job, options, { ...place, folder });
    } catch (cause) {
      options.signal.throwIfAborted();
      throw asFailure(cause, folder);
    }
  });
}

interface Here extends JobPlace {
  readonly folder: string;
}

/** The folder of the pictures: messages about the whole stack call it so. */
const STACK = "stack";

async function compute(job: Job, { onProgress, signal }: RunOptions, { store, folder, network, memory, threads = 1 }: Here): Promise<void> {
  const { frames, settings } = job;
  const stack = join(folder, STACK);
  await mkdir(stack);
  for (const [n, { key, name }] of frames.entries()) {
    signal.throwIfAborted();
    await store.fetch(key, join(stack, name));
    onProgress({ stage: "fetch", done: n + 1, of: frames.length });
  }
  const { distances, unit, ...rest } = settings;
  const { document, folder: output } = await depthOfStack({
    inputs: [stack],
    output: join(folder, "depth"),
    options: { ...rest, force: false, ...(distances ? { distances } : {}), ...(unit ? { unit } : {}) },
    network: () => network(settings.model),
    report: {
      onNote: () => undefined, // they are in the document
      onFindings: () => undefined,
      onStage: (stage, done, of) => {
        onProgress({ stage, done, of });
      },
    },
    ...(memory === undefined ? {} : { memory }),
    threads,
    signal,
  });
  const plain = withoutPlaces(document, folder);
  await writeFile(join(output, "result.json"), encodeResultJson({ ...plain }));
  await deliver({ id: job.id, document: plain, output }, { onProgress, signal }, store);
}

/** Others see names of files, not the folders of this machine. */
function withoutPlaces(document: DepthDocument, folder: string): DepthDocument {
  const plain = JSON.parse(withoutFolder(JSON.stringify(document), JSON.stringify(folder).slice(1, -1))) as DepthDocument;
  return { ...plain, files: Object.fromEntries(Object.entries(plain.files).map(([name, file]) => [name, basename(file)])) };
}

const withoutFolder = (text: string, folder: string): string =>
  text.replaceAll(`${folder}/${STACK}/`, "").replaceAll(`${folder}/${STACK}`, STACK).replaceAll(`${folder}/`, "");

interface Computed {
  readonly id: string;
  readonly document: DepthDocument;
  readonly output: string;
}

async function deliver({ id, document, output }: Computed, { onProgress, signal }: RunOptions, store: FileStore): Promise<void> {
  const run = `${jobPrefix(id)}/runs/${randomUUID()}`;
  const written = Object.entries({ ...document.files, result: "result.json" });
  const files: Record<string, JobResult["files"][string]> = {};
  try {
    for (const [name, file] of written) {
      signal.throwIfAborted();
      const local = join(output, file);
      const { size } = await stat(local);
      await store.move(`${run}/${file}`, local);
      files[name] = { key: `${run}/${file}`, file, size };
      onProgress({ stage: "store", done: Object.keys(files).length, of: written.length });
    }
    signal.throwIfAborted();
    if (!(await commitResults(store, id, { document, files }))) await store.remove(run);
  } catch (cause) {
    await store.remove(run).catch(() => undefined); // the failure itself is worth more than that of tidying up
    throw cause;
  }
}

/** What its submitter may act on, without the folders of this machine; anything else, a full disk for instance, is the worker's own. */
function asFailure(cause: unknown, folder: string): DualFocusError {
  const { code, message, facts } = reportOf(cause);
  const plain = withoutFolder(message, folder);
  if (ERRORS[code].kind === "usage") return new DualFocusError("internal", plain, { cause });
  return new DualFocusError(code, plain, { facts: JSON.parse(withoutFolder(JSON.stringify(facts), folder)) as typeof facts, cause });
}
